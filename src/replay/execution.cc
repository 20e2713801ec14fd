#include "replay/execution.h"

#include <algorithm>
#include <utility>

#include <perdure/errors.h>

#include "model/handled.h"
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

/// The order in which a turn takes its messages.
constexpr int kCancelRank = 0;
constexpr int kHandledRank = 1;  // before main runs on
constexpr int kOtherRank = 2;
constexpr int kQueryRank = 3;  // they see what the turn has led to

int rank_of(MessageKind kind) {
  switch (kind) {
    case MessageKind::kCancel:
      return kCancelRank;
    case MessageKind::kSignal:
    case MessageKind::kUpdate:
      return kHandledRank;
    case MessageKind::kQuery:
      return kQueryRank;
    default:
      return kOtherRank;
  }
}

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
  main_frame_.reset();
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
  apply(start);
  for (std::int64_t i = 0; i < start.number && journal_.peek() != nullptr; ++i) {
    apply_carried(journal_.take());
  }
  // The time of the first turn stands in what it recorded; the start itself may be much older.
  const HistoryEvent* next = journal_.peek();
  now_ = next != nullptr ? next->at : start.at;
  if (next != nullptr && next->kind == EventKind::kCancelRequested) apply(journal_.take());
  while (mode_ == Mode::kReplaying && (next = journal_.peek()) != nullptr &&
         (next->kind == EventKind::kSignalReceived || next->kind == EventKind::kUpdateAccepted)) {
    step(journal_.take());
  }
  if (mode_ != Mode::kReplaying) return;
  if (next != nullptr && next->kind == EventKind::kMainBegan) step(journal_.take());
  begin_main();
}

/// Signals and updates of the first turn have been handled. In code with message handlers history
/// says so: what comes later is told apart by it.
void Execution::begin_main() {
  if (phase_ != Phase::kStarting || mode_ >= Mode::kBroken) return;
  const EventId before = journal_.last_id();
  if (mode_ == Mode::kLive && !handlers().empty()) note_main_began();
  phase_ = Phase::kMain;
  if (main_frame_ != nullptr) {
    auto* main = new detail::TypedTaskOp<std::string>(
        *this, "main", main_frame_->start(std::move(scratch_.get().input)));
    main_ = main;
    tasks_.emplace(root_->id, detail::OpRef(main));
    main->start(root_);
  }
  run_ready();
  // Main waits for a condition alone: later code may have handlers, and must find where it began.
  if (mode_ == Mode::kLive && journal_.last_id() == before) note_main_began();
}

void Execution::note_main_began() {
  HistoryEvent event;
  event.kind = EventKind::kMainBegan;
  event.at = now_;
  journal_.append(std::move(event));
}

TurnResult Execution::turn(std::vector<Message> messages, TimePoint now) {
  const CountingBytes counting(code_bytes_);
  if (mode_ == Mode::kReplaying) {
    mode_ = Mode::kLive;
    journal_.go_live();
  }
  now_ = std::max(now_, now);
  const EventId before = journal_.last_id();
  std::stable_sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
    return rank_of(a.kind) < rank_of(b.kind);
  });
  if (!scratch_.get().unapplied.empty()) first_turn(messages);
  auto next = messages.begin();
  const auto take_up_to = [&](int rank) {
    for (; next != messages.end() && rank_of(next->kind) <= rank; ++next) take_message(*next);
  };
  take_up_to(kCancelRank);
  if (!has_code() && !wound_down_) begin_wind_down(before);
  if (mode_ == Mode::kLive) take_kept_signals();
  take_up_to(kHandledRank);
  release_main();
  begin_main();
  take_up_to(kQueryRank);
  return take_result();
}

void Execution::take_message(Message& message) {
  if (mode_ != Mode::kLive) return;
  if (message.kind == MessageKind::kQuery) return answer_query(message);
  if (carry_over(message) || phase_ == Phase::kEnded) return;
  if (message.kind == MessageKind::kSignal) return take_signal(message);
  if (message.kind == MessageKind::kUpdate) return take_update(message);
  std::optional<HistoryEvent> event = to_event(message);
  if (!event) return;
  event->at = now_;
  step(journal_.append(std::move(*event)));
}

/// All that comes before signals, updates and main.
void Execution::first_turn(std::vector<Message>& messages) {
  const std::vector<HistoryEvent> begin = std::exchange(scratch_.get().unapplied, {});
  if (is_terminal(begin.back().kind)) {  // canceled or terminated before it: there is no state
    phase_ = Phase::kEnded;
    return;
  }
  apply(begin.front());
  for (std::size_t i = 1; i < begin.size(); ++i) apply_carried(begin[i]);
  // Before the first command: nothing may be born in a run that is canceled.
  if (!messages.empty() && messages.front().kind == MessageKind::kCancel) {
    HistoryEvent cancel = *to_event(messages.front());
    cancel.at = now_;
    apply(journal_.append(std::move(cancel)));
  }
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
  const bool message = is_message(input);
  main_waits_ = main_waits_ || message;
  apply(input);
  // A cancel that the code has not seen comes before the wind-down, which begins with its record.
  if (has_code() || wound_down_) run_ready();
  if (message && mode_ == Mode::kReplaying && !joined_follows()) release_main();
}

/// The next task that may go on.
bool Execution::resume_one() {
  std::deque<Resumption>& ready = scratch_.get().ready;
  if (stopped()) return false;
  const auto found = std::find_if(ready.begin(), ready.end(), [this](const Resumption& next) {
    return !main_waits_ || next.promise->scope->supervised;
  });
  if (found == ready.end()) return false;
  const Resumption next = *found;
  ready.erase(found);
  current_ = next.promise;
  next.frame.resume();
  current_ = nullptr;
  record_pending_call();
  reap_tasks();
  return true;
}

void Execution::run_ready() {
  for (;;) {
    while (resume_one()) {
    }
    if (mode_ >= Mode::kBroken) return;
    if (ending_.peek().next && phase_ < Phase::kDraining) {
      if (!begin_next()) return;
      continue;
    }
    if (settle_drops() || check_conditions()) continue;
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
  forget_handlers();
}

void Execution::forget_handlers() {
  RareParts* const rare = rare_.find();
  MessageParts* const parts = rare != nullptr ? rare->messages.find() : nullptr;
  if (parts == nullptr) return;
  parts->tasks = 0;
  parts->running.clear();
}

/// Those of message handlers, or those of main. Nothing is emitted.
void Execution::destroy_tasks(bool supervised) {
  const bool stopped_before = std::exchange(code_stopped_, true);
  TurnScratch& scratch = scratch_.get();
  std::erase_if(scratch.ready, [supervised](const Resumption& next) {
    return next.promise->scope->supervised == supervised;
  });
  std::erase_if(scratch.ended_tasks, [supervised](const detail::OpRef& task) {
    return task->scope->supervised == supervised;
  });
  std::vector<detail::OpRef> destroyed;
  for (auto newest = tasks_.end(); newest != tasks_.begin();) {
    --newest;
    if (newest->second->scope->supervised != supervised) continue;
    destroyed.push_back(std::move(newest->second));
    newest = tasks_.erase(newest);
    static_cast<detail::TaskOp&>(*destroyed.back()).destroy_frames();
  }
  if (supervised) {
    forget_handlers();
  } else {
    main_ = nullptr;
  }
  forget_conditions(supervised);
  // Last, when only those wait for them whose frames stay: handlers, for tasks of main.
  for (const detail::OpRef& task : destroyed) {
    if (task->resolved()) continue;
    task->make_outcome().reason = "its frames are gone";
    resolve(task, detail::OpState::kCanceled);
  }
  code_stopped_ = stopped_before;
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

void Execution::check_read_only() const {
  switch (read_only_) {
    case ReadOnly::kNo:
      return;
    case ReadOnly::kSideEffect:
      throw InvalidArgument(
          "side_effect: it is not run again in a replay, so it makes no commands");
    case ReadOnly::kCondition:
      throw InvalidArgument("until: a condition reads the state and makes no commands");
    case ReadOnly::kQuery:
      throw InvalidArgument("a query reads the state and makes no commands");
    case ReadOnly::kValidator:
      throw InvalidArgument("a validator reads the state and makes no commands");
  }
}

const HistoryEvent* Execution::record_command(HistoryEvent command) {
  check_read_only();
  record_pending_call();
  if (mode_ >= Mode::kBroken) return nullptr;
  const HistoryEvent* recorded = journal_.record(std::move(command), now_);
  if (recorded == nullptr) mode_ = Mode::kBroken;
  return recorded;
}

}  // namespace perdure::replay
