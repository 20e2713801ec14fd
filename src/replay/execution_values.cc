#include <array>
#include <charconv>

#include <perdure/detail/user_error.h>
#include <perdure/errors.h>

#include "replay/arguments.h"
#include "replay/execution.h"

namespace perdure::replay {

namespace {

/// Leaves user code that asks for a value after the engine has stopped it. Should the code catch
/// it, its next await does not come back.
struct Stopped {};

[[noreturn]] void throw_recorded(const Failure& failure) {
  if (failure.type == kInvalidArgumentFailure) throw InvalidArgument(failure.message);
  throw Failed(failure);
}

}  // namespace

std::string Execution::record(std::string_view name, const std::function<std::string()>& make) {
  const auto recorded = try_record(name, [&] {
    struct Guard {
      bool& flag;
      explicit Guard(bool& of) : flag(of) { flag = true; }
      ~Guard() { flag = false; }
    };
    const Guard guard(in_side_effect_);
    return make();
  });
  if (!recorded) throw Stopped{};
  return *recorded;
}

std::optional<std::string> Execution::try_record(std::string_view name,
                                                 const std::function<std::string()>& make) {
  if (stopped()) return std::nullopt;
  HistoryEvent event;
  event.kind = EventKind::kSideEffectRecorded;
  event.name = std::string(name);
  if (journal_.is_live()) {
    // A failure is recorded too: a replay does not run `make`, but must go the same way.
    try {
      event.payload = make();
    } catch (...) {
      event.failure = detail::failure_of(std::current_exception());
    }
  }
  const auto recorded = record_command(std::move(event));
  if (!recorded) return std::nullopt;
  if (!recorded->failure.type.empty()) throw_recorded(recorded->failure);
  return recorded->payload;
}

/// For ids and numbers, which destructors and loops of stopped code may ask for as well: they get
/// values that nobody records.
std::string Execution::record_or_make(std::string_view name,
                                      const std::function<std::string()>& make) {
  const auto recorded = try_record(name, make);
  return recorded ? *recorded : make();
}

std::string Execution::make_uuid() {
  const std::string quoted = record_or_make("uuid", [this] {
    std::array<std::uint64_t, 2> bits{random_.next(), random_.next()};
    bits[0] = (bits[0] & ~0xF000ULL) | 0x4000ULL;  // version 4
    bits[1] = (bits[1] & ~(3ULL << 62)) | (2ULL << 62);
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string text = "\"";
    for (int digit = 0; digit < 32; ++digit) {
      if (digit == 8 || digit == 12 || digit == 16 || digit == 20) text += '-';
      text += kHex[(bits[static_cast<std::size_t>(digit / 16)] >> (60 - 4 * (digit % 16))) & 15];
    }
    return text + '"';
  });
  return quoted.size() < 2 ? quoted : quoted.substr(1, quoted.size() - 2);
}

std::uint64_t Execution::make_random() {
  const std::string text =
      record_or_make("random", [this] { return std::to_string(random_.next()); });
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool Execution::patched(std::string_view id) {
  if (stopped()) return false;
  require(check_id("patch id", id));
  const auto known = patches_.find(id);
  if (known != patches_.end()) return known->second;
  const HistoryEvent* next = journal_.peek();
  const bool marked =
      journal_.is_live() ||
      (next != nullptr && next->kind == EventKind::kPatchMarked && next->name == id);
  if (marked) {
    HistoryEvent event;
    event.kind = EventKind::kPatchMarked;
    event.name = std::string(id);
    record_command(std::move(event));
  }
  patches_.emplace(std::string(id), marked);
  return marked;
}

void Execution::set_custom_status(std::string status) {
  if (stopped()) return;
  HistoryEvent event;
  event.kind = EventKind::kCustomStatusSet;
  event.payload = status;
  if (!record_command(std::move(event))) return;
  if (mode_ == Mode::kLive) decisions_.custom_status = std::move(status);
}

void Execution::log(int level, std::string line) {
  if (mode_ == Mode::kLive) log_.push_back({level, std::move(line)});
}

}  // namespace perdure::replay
