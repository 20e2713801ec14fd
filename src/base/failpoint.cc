#include "base/failpoint.h"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/check.h"

namespace perdure::failpoint {

namespace internal {
std::atomic<bool> active{false};
}  // namespace internal

namespace {

struct Point {
  std::optional<Action> action;
  int hits = 0;
  int paused = 0;
  std::uint64_t releases = 0;
};

std::optional<std::size_t> find_point(std::string_view name) {
  const auto table = failpoint_table();
  const auto found = std::ranges::find(table, name, &FailpointInfo::name);
  if (found == table.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table.begin());
}

std::size_t index_of(std::string_view name) {
  const auto index = find_point(name);
  PERDURE_CHECK(index.has_value(), "no such failpoint: " + std::string(name));
  return *index;
}

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  // The signal may take a moment to reach this thread; it must not run on meanwhile.
  for (;;) ::pause();
}

class Registry {
 public:
  Registry() : points_(failpoint_table().size()) {}

  Status hit(std::size_t index) {
    std::unique_lock lock(mutex_);
    Point& point = points_[index];
    // The last point may have been disarmed after the caller looked.
    if (!active()) return {};
    ++point.hits;
    const std::optional<Action> action = take_turn(point);
    if (action.has_value()) {
      switch (action->kind) {
        case Action::Kind::kFail:
          return action->error;
        case Action::Kind::kPause:
          pause(point, lock);
          break;
        case Action::Kind::kKill:
          die();
      }
    }
    if (recording_) passed_.push_back(index);
    return {};
  }

  void arm(std::size_t index, Action action) {
    change([&] {
      release(points_[index]);
      points_[index].action = std::move(action);
    });
  }

  void disarm(std::size_t index) {
    change([&] {
      release(points_[index]);
      points_[index].action.reset();
    });
  }

  void disarm_all() {
    change([&] {
      for (Point& point : points_) {
        release(point);
        point.action.reset();
      }
    });
  }

  void set_counting(bool on) {
    change([&] { counting_ = on; });
  }

  void set_recording(bool on) {
    change([&] {
      if (on) passed_.clear();
      recording_ = on;
    });
  }

  std::vector<std::string_view> passed() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string_view> names;
    for (const std::size_t index : passed_) names.push_back(failpoint_table()[index].name);
    return names;
  }

  int hits(std::size_t index) {
    const std::lock_guard lock(mutex_);
    return points_[index].hits;
  }

  bool wait_until_paused(std::size_t index, std::chrono::milliseconds bound) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, bound, [&] { return points_[index].paused > 0; });
  }

  void release(std::size_t index) {
    const std::lock_guard lock(mutex_);
    release(points_[index]);
  }

 private:
  // Requires: mutex_ is held, for all below but `change`.

  bool active() const {
    return counting_ || recording_ || std::ranges::any_of(points_, [](const Point& point) {
             return point.action.has_value();
           });
  }

  static std::optional<Action> take_turn(Point& point) {
    if (!point.action.has_value()) return std::nullopt;
    Action& action = *point.action;
    if (action.skip > 0) {
      --action.skip;
      return std::nullopt;
    }
    if (action.times == 0) return std::nullopt;
    if (action.times > 0) --action.times;
    return action;
  }

  void pause(Point& point, std::unique_lock<std::mutex>& lock) {
    const std::uint64_t seen = point.releases;
    ++point.paused;
    changed_.notify_all();
    changed_.wait(lock, [&] { return point.releases != seen; });
  }

  // Uncounts the paused threads here, not when they wake: whoever released them may then wait for
  // the next to pause without seeing the former ones.
  void release(Point& point) {
    point.paused = 0;
    ++point.releases;
    changed_.notify_all();
  }

  template <class Fn>
  void change(Fn&& fn) {
    const std::lock_guard lock(mutex_);
    const bool was_active = active();
    fn();
    const bool is_active = active();
    if (is_active && !was_active) {
      for (Point& point : points_) point.hits = 0;
    }
    internal::active.store(is_active, std::memory_order_relaxed);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Point> points_;  // never resized
  // Guarded by mutex_, as all of it.
  bool counting_ = false;
  bool recording_ = false;
  std::vector<std::size_t> passed_;
};

Registry& registry() {
  // Threads may still pass or be paused at a point while statics are destroyed.
  static auto* const instance = new Registry;
  return *instance;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Error bad_text(std::string_view part, std::string_view why) {
  return invalid_argument("failpoint \"" + std::string(part) + "\": " + std::string(why));
}

Result<int> parse_count(std::string_view part, std::string_view text, int least) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size() || number < least) {
    return bad_text(part, "not a count: \"" + std::string(text) + "\"");
  }
  return number;
}

Status parse_option(std::string_view part, std::string_view option, Action& action) {
  if (option.starts_with("skip=")) {
    PERDURE_ASSIGN_OR_RETURN(action.skip, parse_count(part, option.substr(5), 0));
    return {};
  }
  if (option.starts_with("times=")) {
    PERDURE_ASSIGN_OR_RETURN(action.times, parse_count(part, option.substr(6), -1));
    return {};
  }
  if (action.kind != Action::Kind::kFail) {
    return bad_text(part, "not skip= or times=: \"" + std::string(option) + "\"");
  }
  const auto code = parse_error_code(option);
  if (!code.has_value()) {
    return bad_text(part, "not skip=, times= or an error code: \"" + std::string(option) + "\"");
  }
  action.error.code = *code;
  return {};
}

Result<Action> parse_action(std::string_view part, std::string_view text) {
  const auto words = split(text, ':');
  Action action;
  if (words.front() == "fail") {
    action.kind = Action::Kind::kFail;
  } else if (words.front() == "pause") {
    action.kind = Action::Kind::kPause;
  } else if (words.front() == "kill") {
    action.kind = Action::Kind::kKill;
  } else {
    return bad_text(part, "not fail, pause or kill: \"" + std::string(words.front()) + "\"");
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    PERDURE_RETURN_IF_ERROR(parse_option(part, words[i], action));
  }
  return action;
}

}  // namespace

Status internal::hit_active(std::string_view name) {
  return registry().hit(index_of(name));
}

void arm(std::string_view name, Action action) {
  PERDURE_CHECK(action.skip >= 0 && action.times >= -1, "no such count: " + std::string(name));
  registry().arm(index_of(name), std::move(action));
}

void disarm(std::string_view name) {
  registry().disarm(index_of(name));
}

void disarm_all() {
  registry().disarm_all();
}

void set_counting(bool on) {
  registry().set_counting(on);
}

void set_recording(bool on) {
  registry().set_recording(on);
}

std::vector<std::string_view> passed() {
  return registry().passed();
}

int hits(std::string_view name) {
  return registry().hits(index_of(name));
}

bool wait_until_paused(std::string_view name, std::chrono::milliseconds bound) {
  return registry().wait_until_paused(index_of(name), bound);
}

void release(std::string_view name) {
  registry().release(index_of(name));
}

Status arm_from_text(std::string_view text) {
  std::vector<std::pair<std::string_view, Action>> parsed;
  for (const std::string_view part : split(text, ';')) {
    if (part.empty()) continue;
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) return bad_text(part, "not name=action");
    const std::string_view name = part.substr(0, equals);
    if (!find_point(name).has_value()) return bad_text(part, "no such failpoint");
    PERDURE_ASSIGN_OR_RETURN(Action action, parse_action(part, part.substr(equals + 1)));
    if (action.kind == Action::Kind::kFail) action.error.message += " " + std::string(name);
    parsed.emplace_back(name, std::move(action));
  }
  for (auto& [name, action] : parsed) arm(name, std::move(action));
  return {};
}

Status arm_from_environment() {
  const char* const text = std::getenv("PERDURE_FAILPOINTS");
  return text == nullptr ? Status() : arm_from_text(text);
}

Scoped::Scoped(std::string_view name, Action action) : name_(name) {
  arm(name_, std::move(action));
}

Scoped::~Scoped() {
  disarm(name_);
}

}  // namespace perdure::failpoint
