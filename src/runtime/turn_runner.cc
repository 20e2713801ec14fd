#include "runtime/turn_runner.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace perdure::runtime {

namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kShortestTick = std::chrono::milliseconds(1);
constexpr nanoseconds kLongestTick = std::chrono::milliseconds(250);
constexpr nanoseconds kLeastWait = std::chrono::microseconds(100);
constexpr int kLooksInALimit = 16;

/// Zero: there is none.
Duration shortest_limit(const CodeBatch& batch) {
  Duration shortest{};
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Duration limit = batch.piece(i).owner.limit;
    if (limit == Duration::zero()) continue;
    shortest = shortest == Duration::zero() ? limit : std::min(shortest, limit);
  }
  return shortest;
}

ThreadTimes times_now(const ThreadRef& thread) {
  return times_of(thread.kernel_id).value_or(ThreadTimes{});
}

std::string time_text(Duration time) {
  if (time.count() % 1'000'000 == 0) return std::to_string(time.count() / 1'000'000) + " s";
  if (time.count() % 1'000 == 0) return std::to_string(time.count() / 1'000) + " ms";
  return std::to_string(time.count()) + " us";
}

std::string explained(const CodeOwner& owner, bool busy) {
  return "the code of a turn has not returned for " + time_text(owner.limit) +
         ", its deadlock timeout: its thread is " +
         (busy ? "busy. Long computations belong in an activity"
               : "blocked. Code of an orchestration waits with co_await only; what blocks belongs "
                 "in an activity") +
         ". This process does not run it again until it has returned; its stack is in the log";
}

/// An event of the log has one line.
std::string one_line(std::string stack) {
  while (!stack.empty() && stack.back() == '\n') stack.pop_back();
  for (std::size_t at = stack.find('\n'); at != std::string::npos; at = stack.find('\n', at)) {
    stack.replace(at, 1, " | ");
  }
  return stack;
}

constexpr const char* kLeft = "the code of a turn has not returned when its worker had to stop";

/// What a stuck thread does when its code has returned.
struct Parting {
  std::shared_ptr<Quarantine> quarantine;
  CodeOwner owner;
  std::function<void()> told;

  void on_return() const {
    log::warning("a turn that was given up has returned: what it decided is dropped",
                 {{"instance", owner.instance_id}, {"orchestration", owner.orchestration}});
    quarantine->leave(owner.instance);
    if (told) told();
  }
};

}  // namespace

/// Why a piece is abandoned.
struct TurnRunner::Finding {
  bool busy = false;
  bool at_deadline = false;
  std::string stack;

  void write_log(const CodeOwner& owner) const noexcept {
    try {
      log::error(at_deadline
                     ? "a turn has not returned when its worker stopped: its thread is left to itself"
                     : "a turn does not return: it is given up, and its thread is left to itself",
                 {{"instance", owner.instance_id},
                  {"orchestration", owner.orchestration},
                  {"timeout", owner.limit == Duration::zero() ? "off" : time_text(owner.limit)},
                  {"state", busy ? "busy" : "blocked"},
                  {"stack", one_line(stack)}});
    } catch (...) {  // memory ran out: the run is shown as blocked all the same
    }
  }
};

TurnRunner::TurnRunner(Parts parts) : parts_(std::move(parts)) {
  if (!parts_.quarantine) parts_.quarantine = std::make_shared<Quarantine>();
}

TurnRunner::Ran TurnRunner::run(CodeBatch::Pieces pieces) {
  const auto batch = std::make_shared<CodeBatch>(parts_.used, std::move(pieces), hurried_);
  nanoseconds shortest = shortest_limit(*batch);
  const bool watched = batch->size() != 0 && (shortest != nanoseconds::zero() || parts_.deadline);
  if (shortest == nanoseconds::zero()) shortest = nanoseconds::max();
  Ran ran;
  if (!watched || !have_thread()) {
    batch->run();
  } else {
    ran = watch(batch, std::clamp(shortest / kLooksInALimit, kShortestTick, kLongestTick));
  }
  if (!ran.stuck) ran.through = batch->look().index;
  const std::size_t ended = ran.stuck ? ran.through - 1 : ran.through;
  for (std::size_t i = 0; i < ended; ++i) {
    if (batch->piece(i).error) std::rethrow_exception(batch->piece(i).error);
  }
  return ran;
}

bool TurnRunner::have_thread() {
  if (thread_) return true;
  try {
    thread_ = std::make_unique<RunnerThread>();
    warned_ = false;
    return true;
  } catch (const std::system_error& error) {
    if (!std::exchange(warned_, true)) {
      log::warning("no thread for turns: they run without a watch over them",
                   {{"error", error.what()}});
    }
    return false;
  }
}

TurnRunner::Ran TurnRunner::watch(const std::shared_ptr<CodeBatch>& batch, nanoseconds tick) {
  thread_->begin(batch);
  Ran ran;
  OwnTime time;
  Time meant = steady_now() + tick;
  while (!thread_->wait_until(meant)) {
    nanoseconds rest = tick;
    try {
      if (steady_now() >= deadline()) {
        leave(*batch, time, ran);
        rest = kShortestTick;
      } else {
        rest = std::min(tick, look(*batch, time, meant, ran));
      }
    } catch (const std::exception& error) {  // before anything was abandoned
      log::warning("a turn that takes long cannot be looked at", {{"error", error.what()}});
    }
    if (ran.stuck) return ran;
    meant = std::min(steady_now() + std::max(kLeastWait, rest),
                     std::max(steady_now() + kLeastWait, deadline()));
  }
  return ran;
}

TurnRunner::Time TurnRunner::deadline() const {
  return parts_.deadline ? parts_.deadline->at() : Time::max();
}

/// What runs now. When it ends meanwhile, the hurry ends the batch.
void TurnRunner::leave(CodeBatch& batch, const OwnTime& time, Ran& ran) {
  hurry();
  const CodeBatch::Look at = batch.look();
  if (at.index == batch.size() || at.since == Time{}) return;
  // The last commits wait for it.
  std::string stack = stack_of(thread_->thread(), std::chrono::milliseconds(200));
  abandon(batch, at.index, {time.is_busy(), true, std::move(stack)}, ran);
}

/// How long what runs may go on before the next look.
nanoseconds TurnRunner::look(CodeBatch& batch, OwnTime& time, Time meant, Ran& ran) {
  const CodeBatch::Look at = batch.look();
  if (at.index == batch.size() || at.since == Time{}) return nanoseconds::max();
  const nanoseconds own =
      time.at({at.index, at.since, meant, steady_now(), times_now(thread_->thread())});
  const nanoseconds limit = batch.piece(at.index).owner.limit;
  if (limit == nanoseconds::zero()) return nanoseconds::max();
  if (own < limit) return limit - own;
  std::string stack;
  if (is_over(batch, at, time, stack)) {
    abandon(batch, at.index, {time.is_busy(), false, std::move(stack)}, ran);
  }
  return nanoseconds::max();
}

/// Looks closer. Its thread must get a processor to tell its stack, so it is seen then what it had
/// been short of.
bool TurnRunner::is_over(const CodeBatch& batch,
                         const CodeBatch::Look& at,
                         OwnTime& time,
                         std::string& stack) {
  if (is_debugged()) {
    time.forgive();
    return false;
  }
  const ThreadRef thread = thread_->thread();
  stack = stack_of(thread);
  const Time now = steady_now();
  const nanoseconds own = time.at({at.index, at.since, now, now, times_now(thread)});
  return own >= batch.piece(at.index).owner.limit;
}

/// All that takes memory is made before, so that nothing stops halfway.
void TurnRunner::abandon(CodeBatch& batch,
                         std::size_t index,
                         const Finding& finding,
                         Ran& ran) {
  const CodeOwner& owner = batch.piece(index).owner;
  const auto parting = std::make_shared<Parting>(Parting{parts_.quarantine, owner, {}});
  std::function<void()> on_return = [parting] { parting->on_return(); };
  std::string told = finding.at_deadline ? kLeft : explained(owner, finding.busy);
  const ThreadRef thread = thread_->thread();
  parts_.quarantine->enter(owner.instance);
  if (!batch.abandon(index)) return parts_.quarantine->leave(owner.instance);
  parting->told = tell(owner, thread);
  finding.write_log(owner);
  thread_->let_go(std::move(on_return));
  thread_.reset();
  ran = {index + 1, std::move(told), finding.at_deadline};
}

std::function<void()> TurnRunner::tell(const CodeOwner& owner, const ThreadRef& thread) noexcept {
  if (!parts_.on_stuck) return {};
  try {
    return parts_.on_stuck({owner.instance_id, owner.orchestration, parts_.queue, thread});
  } catch (...) {
    log::error("who counts stuck turns could not be told of one");
    return {};
  }
}

}  // namespace perdure::runtime
