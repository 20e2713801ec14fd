#include "replay/execution.h"

#include <algorithm>
#include <utility>

#include <perdure/errors.h>

#include "replay/commands.h"

namespace perdure::replay {

namespace {

/// Adds what the run takes or gives back while this stands.
class CountingBytes {
 public:
  explicit CountingBytes(std::int64_t& total) : total_(total), before_(detail::run_bytes) {}
  CountingBytes(const CountingBytes&) = delete;
  CountingBytes& operator=(const CountingBytes&) = delete;
  ~CountingBytes() { total_ += detail::run_bytes - before_; }

 private:
  std::int64_t& total_;
  const std::int64_t before_;
};

}  // namespace

Execution::Execution(ExecutionSpec spec,
                     const detail::OrchestrationHandler& main,
                     ExecutionOptions options,
                     Random& random)
    : spec_(std::move(spec)),
      main_handler_(&main),
      options_(options),
      random_(random),
      journal_(options.arguments) {}

Execution::Execution(ExecutionSpec spec, ExecutionOptions options, Random& random)
    : spec_(std::move(spec)),
      main_handler_(nullptr),
      options_(options),
      random_(random),
      journal_(options.arguments),
      code_stopped_(true) {}

Execution::~Execution() {
  mode_ = Mode::kEvicting;
  destroy_frames();
  // What it holds may be of user code, which may still ask for the other parts.
  scratch_.reset();
  if (RareParts* rare = rare_.find()) rare->locals.clear();
}

void Execution::replay(std::vector<HistoryEvent> history, bool had_turn) {
  const CountingBytes counting(code_bytes_);
  journal_.load(std::move(history));
  if (!has_code()) return retrace();
  if (!had_turn) {
    while (journal_.peek() != nullptr) scratch_.get().unapplied.push_back(journal_.take());
    return;
  }
  if (journal_.peek() != nullptr) replay_start();
  while (mode_ == Mode::kReplaying && journal_.peek() != nullptr) {
    const HistoryEvent& next = *journal_.peek();
    if (next.kind == EventKind::kTerminated) {  // written by a client's commit, not by the code
      journal_.take();
      phase_ = Phase::kEnded;
      end_ = ExecutionStatus::kTerminated;
      return;
    }
    if (phase_ == Phase::kEnded || is_command(next.kind)) {
      const char* actual = phase_ == Phase::kEnded ? "its end" : "no further command";
      return set_mismatch(next, actual, kRemovedCommandHint);
    }
    step(journal_.take());
  }
}

void Execution::replay_start() {
  const HistoryEvent start = journal_.take();
  for (std::int64_t i = 0; i < start.number && journal_.peek() != nullptr; ++i) {
    apply(journal_.take());
  }
  // The time of the first turn stands in what it recorded; the start itself may be much older.
  const HistoryEvent* next = journal_.peek();
  now_ = next != nullptr ? next->at : start.at;
  if (next != nullptr && next->kind == EventKind::kCancelRequested) apply(journal_.take());
  apply(start);
  run_ready();
}

TurnResult Execution::turn(std::vector<Message> messages, TimePoint now) {
  const CountingBytes counting(code_bytes_);
  if (mode_ == Mode::kReplaying) {
    mode_ = Mode::kLive;
    journal_.go_live();
  }
  now_ = std::max(now_, now);
  const EventId before = journal_.last_id();
  const auto others =
      std::stable_partition(messages.begin(), messages.end(), [](const Message& message) {
        return message.kind == MessageKind::kCancel;
      });
  if (!scratch_.get().unapplied.empty()) first_turn(messages);
  for (auto cancel = messages.begin(); cancel != others; ++cancel) take_message(*cancel);
  if (!has_code() && !wound_down_) begin_wind_down(before);
  for (auto other = others; other != messages.end(); ++other) take_message(*other);
  return take_result();
}

void Execution::take_message(Message& message) {
  if (mode_ != Mode::kLive) return;
  if (decisions().next && message.kind == MessageKind::kEventRaised) {
    HistoryEvent carried;
    carried.kind = EventKind::kEventReceived;
    carried.name = std::move(message.name);
    carried.payload = std::move(message.payload);
    decisions().next->carried.push_back(std::move(carried));
  }
  if (phase_ == Phase::kEnded) return;
  std::optional<HistoryEvent> event = to_event(message);
  if (!event) return;
  event->at = now_;
  step(journal_.append(std::move(*event)));
}

void Execution::first_turn(const std::vector<Message>& messages) {
  const std::vector<HistoryEvent> begin = std::exchange(scratch_.get().unapplied, {});
  for (std::size_t i = 1; i < begin.size(); ++i) apply(begin[i]);
  // Before the first command: nothing may be born in a run that is canceled.
  if (!messages.empty() && messages.front().kind == MessageKind::kCancel) {
    HistoryEvent cancel = *to_event(messages.front());
    cancel.at = now_;
    apply(journal_.append(std::move(cancel)));
  }
  apply(begin.front());
  run_ready();
}

TurnResult Execution::take_result() {
  TurnResult result;
  result.warnings = journal_.take_warnings();
  result.mismatch = journal_.mismatch();
  if (result.mismatch) return result;
  TurnScratch& scratch = scratch_.get();
  result.decisions = std::move(scratch.decisions);
  result.decisions.events = journal_.take_appended();
  result.decisions.status = phase_ == Phase::kEnded ? end_ : live_status();
  result.log = std::move(scratch.log);
  scratch_.reset();
  return result;
}

void Execution::step(HistoryEvent input) {
  now_ = std::max(now_, input.at);
  apply(input);
  // A cancel that the code has not seen comes before the wind-down, which begins with its record.
  if (has_code() || wound_down_) run_ready();
}

void Execution::run_ready() {
  std::deque<Resumption>& ready = scratch_.get().ready;
  for (;;) {
    while (!ready.empty() && !stopped()) {
      const Resumption next = ready.front();
      ready.pop_front();
      current_ = next.promise;
      next.frame.resume();
      current_ = nullptr;
      record_pending_call();
      reap_tasks();
    }
    if (mode_ >= Mode::kBroken) return;
    if (ending_.peek().next) return finish_as_new();
    if (settle_drops()) continue;
    if (!advance_end()) return;
  }
}

void Execution::resume_later(std::coroutine_handle<> handle, detail::PromiseBase& promise) {
  scratch_.get().ready.push_back({handle, &promise});
}

void Execution::resume_next(std::coroutine_handle<> handle, detail::PromiseBase& promise) {
  scratch_.get().ready.push_front({handle, &promise});
}

void Execution::destroy_frames() {
  if (TurnScratch* scratch = scratch_.find()) {
    scratch->ready.clear();
    scratch->ended_tasks.clear();
  }
  // Newest first, as a stack unwinds; main last.
  while (!tasks_.empty()) {
    const auto newest = std::prev(tasks_.end());
    const detail::OpRef task = std::move(newest->second);
    tasks_.erase(newest);
    static_cast<detail::TaskOp&>(*task).destroy_frames();
  }
  main_ = nullptr;
  main_frame_.reset();
}

void Execution::check_scope() const {
  const detail::ScopeState& scope = current_scope();
  if (scope.canceled) throw Canceled(scope.reason);
}

const detail::ScopeRef& Execution::current_scope_ref() const {
  return current_ != nullptr ? current_->scope : root_;
}

detail::ScopeState& Execution::current_scope() const {
  return *current_scope_ref();
}

void Execution::set_mismatch(const HistoryEvent& event, const char* actual, const char* hint) {
  journal_.set_mismatch({event.id, describe(event), actual, hint});
  mode_ = Mode::kBroken;
}

void Execution::check_side_effect() const {
  if (!in_side_effect_) return;
  throw InvalidArgument("side_effect: it is not run again in a replay, so it makes no commands");
}

const HistoryEvent* Execution::record_command(HistoryEvent command) {
  check_side_effect();
  record_pending_call();
  if (mode_ >= Mode::kBroken) return nullptr;
  const HistoryEvent* recorded = journal_.record(std::move(command), now_);
  if (recorded == nullptr) mode_ = Mode::kBroken;
  return recorded;
}

}  // namespace perdure::replay
