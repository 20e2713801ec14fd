#pragma once

#include <coroutine>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <perdure/detail/handler_table.h>
#include <perdure/detail/task_op.h>
#include <perdure/detail/turn_api.h>

#include "base/random.h"
#include "model/message.h"
#include "replay/event_inbox.h"
#include "replay/execution_parts.h"
#include "replay/journal.h"
#include "replay/on_demand.h"
#include "replay/turn_decisions.h"

namespace perdure::replay {

/// Which execution of which run, with which code.
struct ExecutionSpec {
  std::string instance_id;
  ExecutionNo execution;
  std::string name;
  std::string version;
  std::string queue;
};

struct ExecutionOptions {
  ArgumentCheck arguments = ArgumentCheck::kWarn;
  std::size_t max_payload_bytes = std::size_t{2} << 20;
  Duration handler_drain_timeout = std::chrono::seconds(60);
};

/// One execution of an orchestration in memory: the frames of its code and all that they wait for.
/// History and messages go in, decisions come out; no I/O, no clock, no threads.
///
/// History is a sequence of events from outside, each followed by the commands that the code made
/// because of it. Events are applied one at a time; after each the code runs from a ready queue
/// until it only waits. So the order of history decides every race, and a replay makes the same
/// commands as the turns did, or says where it does not.
///
/// Use: `replay` (once, when frames are not at hand), then `turn` again and again; between turns
/// the object may be kept or destroyed, at the caller's choice. After a turn whose commit did not
/// succeed, or that had a mismatch, it must be destroyed.
/// Destruction evicts: frames are destroyed, destructors of user code run, nothing is emitted.
///
/// Without code a canceled run is wound down from its history alone: what is open is given up, owed
/// undos run, the run ends canceled. The first such turn records that it began (`cleanup_expired`
/// with a number); from then on the run has no code, whatever is registered (`wound_down_after`).
/// Threading: one thread at a time. A crash loses nothing: there is nothing here that history does
/// not give back.
class Execution final : private detail::TurnApi {
 public:
  /// `main` and `random` must outlive it.
  Execution(ExecutionSpec spec,
            const detail::OrchestrationHandler& main,
            ExecutionOptions options,
            Random& random);
  /// Without code. Requires: the run is canceled, or a cancel is among the messages of its next
  /// turn, and its time for cleanup is over.
  Execution(ExecutionSpec spec, ExecutionOptions options, Random& random);
  ~Execution() override;

  /// Runs the code through what committed turns recorded, whole and in order. With
  /// `had_turn` = false the events (the start and what was carried over) are new to the code and
  /// are applied by the first turn.
  void replay(std::vector<HistoryEvent> history, bool had_turn);

  /// Applies messages at the time `now`: a cancel first, then signals and updates, then all others,
  /// each in their order; queries are answered last, from what is then. Of an execution that has
  /// ended it answers queries alone.
  TurnResult turn(std::vector<Message> messages, TimePoint now);

  /// Found by `replay` or the last turn.
  const std::optional<Mismatch>& mismatch() const { return journal_.mismatch(); }
  bool has_ended() const { return phase_ == Phase::kEnded; }
  /// False: it is ended from its history alone.
  bool has_code() const { return main_handler_ != nullptr; }
  EventId last_event() const { return journal_.last_id(); }
  std::vector<std::string> take_warnings() { return journal_.take_warnings(); }

  /// Memory that it takes between turns. Counted: the frames of its coroutines, its operations with
  /// the outcomes that futures still hold, events that were not read, undos with their inputs, and
  /// an estimate of its tables. Not counted: what objects of user code own outside the frames.
  std::size_t bytes() const;

  /// Where `replayed`, brought to the same event by a replay of what this one decided, is another
  /// than this one; nothing when both go on alike as far as can be seen: its replay met no
  /// mismatch, both are at the same event, in the same phase, and wait for the same things.
  /// "Expected" is this one.
  std::optional<Mismatch> difference_to(const Execution& replayed) const;

 private:
  enum class Mode : std::uint8_t { kReplaying, kLive, kBroken, kEvicting };
  /// kStarting: before main's first step. kDraining: main has ended, handlers go on.
  enum class Phase : std::uint8_t { kStarting, kMain, kJoining, kDraining, kUndoing, kEnded };
  /// User code that reads and makes no commands.
  enum class ReadOnly : std::uint8_t { kNo, kSideEffect, kCondition, kQuery, kValidator };
  class Reading;

  // --- commands (execution_commands.cc)
  detail::OpRef call_activity(detail::ActivityCall call) override;
  void owe_undo(detail::Op& call, std::string_view name, const UndoOptions& options) override;
  void record_pending_call();
  detail::OpRef call_child(detail::ChildCall call) override;
  void start_detached(detail::DetachedCall call) override;
  detail::OpRef start_timer(Duration delay) override;
  detail::OpRef start_timer_at(TimePoint due) override;
  detail::OpRef wait_for_event(std::string_view name) override;
  void continue_as_new(std::string input, std::optional<std::string> version) override;

  // --- conditions (execution_conditions.cc)
  detail::OpRef wait_until(std::function<bool()> condition) override;
  bool settle_condition(detail::Op& op);
  bool check_conditions();
  void forget_conditions(bool supervised);

  // --- message handlers (execution_handlers.cc)
  void take_signal(Message& message);
  void take_update(Message& message);
  void take_kept_signals();
  std::int64_t joined() const;
  bool joined_follows() const;
  void release_main();
  bool takes_messages() const;
  bool carry_over(Message& message);
  void keep_signal(const HistoryEvent& event);
  void apply_signal(const HistoryEvent& event);
  void apply_update(const HistoryEvent& event);
  void start_handler(const detail::MessageHandler& handler, const HistoryEvent& event);
  const detail::ScopeRef& handler_scope(bool cancel_with_run);
  std::size_t open_conditions() const;
  std::vector<EventId> kept_signals() const;
  bool is_too_large(const RunningHandler& handler, const std::string& result) const;
  void handler_ended(detail::TaskOp& task, const RunningHandler& handler, bool canceled);
  void answer_query(Message& message);
  Reply reply_to_query(const Message& message);
  void reply(Reply reply);
  const detail::MessageHandlers& handlers() const;

  // --- recorded values (execution_values.cc)
  std::string record(std::string_view name, const std::function<std::string()>& make) override;
  std::string record_or_make(std::string_view name, std::string (*make)(Random&));
  std::string make_uuid() override;
  std::uint64_t make_random() override;
  bool patched(std::string_view id) override;
  void set_custom_status(std::string status) override;
  std::shared_ptr<void>& local(const void* key) override { return rare_.get().locals[key]; }
  void log(int level, std::string line) override;

  // --- tasks and scopes (execution_scopes.cc)
  void spawn(detail::TaskOp& task, detail::ScopeRef parent, bool shield) override;
  detail::ScopeRef open_scope() override;
  void cancel_scope(const detail::ScopeRef& scope, std::string_view reason) override;
  void drop_scope(const detail::ScopeRef& scope) noexcept override;
  void task_ended(detail::TaskOp& task) override;
  void cancel_trees(const std::vector<detail::ScopeRef>& tops,
                    const std::string& reason,
                    bool drop);
  void cancel_op(const detail::OpRef& op, const std::string& reason, bool drop);
  void reap_tasks();
  void reap(detail::TaskOp& task);

  // --- what is given up (execution_drops.cc)
  void drop(detail::Op& op) noexcept override;
  void detach(detail::Op& op) noexcept override;
  void give_up(detail::Op& op, bool timed_out = false);
  bool is_ending() const {
    return (main_ == nullptr && phase_ != Phase::kStarting) || ending_.peek().failure ||
           cleanup_expired_;
  }
  bool is_own_drop(const detail::Op& op) const;
  bool settle_drops();
  void settle_drop(const detail::OpRef& op);
  void settle_dropped_scopes();
  void give_up_all(bool supervised);

  // --- running (execution.cc)
  void resume_later(std::coroutine_handle<> handle, detail::PromiseBase& promise) override;
  void resume_next(std::coroutine_handle<> handle, detail::PromiseBase& promise) override;
  bool stopped() const noexcept override { return code_stopped_ || mode_ >= Mode::kBroken; }
  void replay_start();
  void first_turn(std::vector<Message>& messages);
  void begin_main();
  void note_main_began();
  void take_message(Message& message);
  void step(HistoryEvent input);
  void run_ready();
  bool resume_one();
  void destroy_frames();
  void destroy_tasks(bool supervised);
  void forget_handlers();
  TurnResult take_result();

  // --- events from outside (execution_inputs.cc)
  void apply(const HistoryEvent& event);
  void apply_start(const HistoryEvent& event);
  void apply_carried(const HistoryEvent& event);
  void apply_answer(const HistoryEvent& event);
  void apply_cancel(const HistoryEvent& event);
  void apply_cleanup_expired(const HistoryEvent& expired);
  void tell_of_cut_handlers(const char* why);
  void apply_drain_expired();
  void apply_undo_answer(const HistoryEvent& event);
  std::optional<HistoryEvent> to_event(const Message& message);
  std::optional<HistoryEvent> answer_event(const Message& message);
  void resolve(const detail::OpRef& op, detail::OpState state);
  void hand_out(const std::vector<EventInbox::Match>& matches);
  void expire_call(std::int64_t call);
  void unlimit_call(const detail::Op& call);

  // --- without code (execution_wind_down.cc)
  void retrace();
  void retrace_command(const HistoryEvent& command);
  void retrace_undo(const HistoryEvent& scheduled);
  void begin_wind_down(EventId seen_by_code);

  // --- the end (execution_end.cc)
  bool advance_end();
  bool code_can_go_on();
  void begin_joining();
  void begin_draining();
  bool begin_next();
  bool main_runs() const { return tasks_.size() > handler_tasks(); }
  std::size_t handler_tasks() const { return rare_.peek().messages.peek().tasks; }
  bool advance_undo();
  void give_up_undone_calls();
  void finish();
  void finish_as_new();
  ExecutionStatus live_status() const;

  // --- what the run is
  TimePoint now() const override { return now_; }
  bool is_replaying() const override { return mode_ == Mode::kReplaying; }
  const std::string& instance_id() const override { return spec_.instance_id; }
  const std::string& orchestration() const override { return spec_.name; }
  const std::string& version() const override { return spec_.version; }
  std::int64_t execution() const override { return spec_.execution.value; }
  bool is_canceled() const override { return current_scope().canceled; }
  const std::string& cancel_reason() const override { return current_scope().reason; }
  std::size_t max_payload_bytes() const override { return options_.max_payload_bytes; }

  /// Throws `Canceled` when the running task may make no commands.
  void check_scope() const;
  /// Throws `InvalidArgument` inside a side effect, a condition, a query or a validator.
  void check_read_only() const;
  detail::ScopeState& current_scope() const;
  const detail::ScopeRef& current_scope_ref() const;
  /// The recorded event, until the next one, or null after a mismatch, which stops the code.
  const HistoryEvent* record_command(HistoryEvent command);
  /// History and code part at `event`: nothing the code does counts any more.
  void set_mismatch(const HistoryEvent& event, const char* actual, const char* hint);
  detail::OpRef add_op(detail::OpKind kind, EventId event, std::string_view name);
  /// An operation that nothing will ever resolve.
  detail::OpRef never();
  detail::OpRef timer_due(TimePoint due);
  std::string child_id(const ChildOptions& options) const;
  void limit_call(EventId call, const ChildOptions& options);
  std::string queue_or_own(std::string_view queue) const;
  TurnDecisions& decisions() { return scratch_.get().decisions; }

  const ExecutionSpec spec_;
  const detail::OrchestrationHandler* const main_handler_;  // null: without code
  const ExecutionOptions options_;
  Random& random_;

  Journal journal_;
  Mode mode_ = Mode::kReplaying;
  Phase phase_ = Phase::kStarting;
  ExecutionStatus end_ = ExecutionStatus::kRunning;  // once it has ended
  bool code_stopped_ = false;
  bool main_waits_ = false;  // until the signals and updates of the turn have been handled
  ReadOnly read_only_ = ReadOnly::kNo;
  TimePoint now_{};
  std::int64_t code_bytes_ = 0;  // frames, operations, outcomes

  OnDemand<TurnScratch> scratch_;
  OnDemand<RareParts> rare_;
  OnDemand<Ending> ending_;
  detail::PromiseBase* current_ = nullptr;
  std::int64_t scopes_ = 0;
  std::uint64_t resolutions_ = 0;
  detail::ScopeRef root_;
  /// Unresolved operations by event id. Not those that were given up.
  std::map<std::int64_t, detail::OpRef> ops_;

  bool cancel_requested_ = false;
  bool cleanup_expired_ = false;
  bool wound_down_ = false;  // recorded
  bool undone_calls_given_up_ = false;

  // Frames last: they are destroyed first, while everything they refer to still stands.
  std::unique_ptr<detail::MainFrame> main_frame_;
  std::map<std::int64_t, detail::OpRef> tasks_;  // that run, by scope; main is the first
  detail::TaskOp* main_ = nullptr;               // while it runs
};

}  // namespace perdure::replay
