#include <algorithm>
#include <utility>

#include <perdure/detail/message_shape.h>
#include <perdure/detail/user_error.h>

#include "model/handled.h"
#include "replay/commands.h"
#include "replay/execution.h"
#include "replay/execution_reading.h"

namespace perdure::replay {

using detail::OpRef;
using detail::ScopeState;

namespace {

template <class Handlers>
Failure unknown(const char* kind, const std::string& name, const Handlers& known) {
  std::string message = "the run has no " + std::string(kind) + " '" + name + "'; it has ";
  std::string names;
  for (const auto& [each, handler] : known) names += (names.empty() ? "'" : ", '") + each + "'";
  return {kUnknownHandlerFailure, message + (names.empty() ? "none" : names), false, {}};
}

template <class Handlers>
const typename Handlers::mapped_type* find_in(const Handlers& handlers, const std::string& name) {
  const auto found = handlers.find(name);
  return found == handlers.end() ? nullptr : &found->second;
}

std::string text_of_size(const std::string& what, std::size_t bytes) {
  return "the result of " + what + ": " + std::to_string(bytes) + " bytes of JSON, the limit is ";
}

Failure too_large(const std::string& what, std::size_t bytes, std::size_t limit) {
  return {kInvalidArgumentFailure, text_of_size(what, bytes) + std::to_string(limit), false, {}};
}

}  // namespace

const detail::MessageHandlers& Execution::handlers() const {
  static const detail::MessageHandlers kNone;
  return has_code() ? main_handler_->messages : kNone;
}

/// While main is there and nothing has ended it.
bool Execution::takes_messages() const {
  return main_frame_ != nullptr && !stopped() && !ending_.peek().failure && !ending_.peek().next &&
         (phase_ == Phase::kStarting || (phase_ == Phase::kMain && main_ != nullptr));
}

/// HistoryEvent::number of a signal or an update that is recorded now.
std::int64_t Execution::joined() const {
  return main_waits_ ? kJoinedFlag : 0;
}

/// Whether the turn that is replayed took another one before main went on. What handlers decided may
/// stand between them.
bool Execution::joined_follows() const {
  std::size_t ahead = 0;
  const HistoryEvent* next = journal_.peek();
  while (next != nullptr && is_command(next->kind)) next = journal_.peek(++ahead);
  return next != nullptr && is_joined(*next);
}

/// All signals and updates of the turn have been handled.
void Execution::release_main() {
  if (!std::exchange(main_waits_, false)) return;
  if (has_code() || wound_down_) run_ready();
}

/// What the next execution is to get, when this one has continued as new.
bool Execution::carry_over(Message& message) {
  if (phase_ != Phase::kEnded || !decisions().next) return false;
  HistoryEvent carried;
  switch (message.kind) {
    case MessageKind::kEventRaised:
      carried.kind = EventKind::kEventReceived;
      break;
    case MessageKind::kSignal:  // as they are: signals and updates keep their order
    case MessageKind::kUpdate:
    case MessageKind::kQuery:
      decisions().kept_messages.push_back(message.id);
      return true;
    default:
      return false;
  }
  carried.name = std::move(message.name);
  carried.payload = std::move(message.payload);
  decisions().next->carried.push_back(std::move(carried));
  return true;
}

void Execution::take_signal(Message& message) {
  if (!has_code()) return;
  HistoryEvent event;
  event.kind = EventKind::kSignalReceived;
  const bool taken = takes_messages() && find_in(handlers().signals, message.name) != nullptr;
  event.number = joined() | (taken ? 0 : kKeptFlag);
  if (!taken) {
    log(kWarningLevel,
        "signal '" + message.name + "' is kept: " +
            (takes_messages() ? "this code has no handler for it" : "the run is about to end"));
  }
  event.name = std::move(message.name);
  event.payload = std::move(message.payload);
  event.at = now_;
  step(journal_.append(std::move(event)));
}

/// Signals that came when nobody took them, and for which there is a handler now.
void Execution::take_kept_signals() {
  std::vector<HistoryEvent> wanted;
  for (const auto& [kept, signal] : rare_.peek().messages.peek().kept) {
    if (find_in(handlers().signals, signal.name) == nullptr) continue;
    HistoryEvent event;
    event.kind = EventKind::kSignalReceived;
    event.source = kept;
    event.name = signal.name;
    event.payload = signal.payload;
    event.at = now_;
    wanted.push_back(std::move(event));
  }
  for (HistoryEvent& event : wanted) {
    if (!takes_messages()) return;
    event.number = joined();
    step(journal_.append(std::move(event)));
  }
}

void Execution::keep_signal(const HistoryEvent& event) {
  rare_.get().messages.get().kept.emplace(event.id, KeptSignal{event.name, event.payload});
}

void Execution::apply_signal(const HistoryEvent& event) {
  if (is_kept(event)) return keep_signal(event);
  if (event.source != EventId{}) rare_.get().messages.get().kept.erase(event.source);
  if (!has_code()) return;
  const detail::MessageHandler* handler = find_in(handlers().signals, event.name);
  if (handler == nullptr) return set_mismatch(event, "no handler for it", kRemovedCommandHint);
  start_handler(*handler, event);
}

/// An update is accepted by its event, or refused without a trace.
void Execution::take_update(Message& message) {
  Reply refused{RequestKind::kUpdate, message.text, RequestStage::kRefused, {}, {}};
  // Main continues as new once its handlers are done: the next execution gets it.
  if (ending_.peek().next) return;
  if (!takes_messages() || cancel_requested_) {
    refused.failure = {kRunEndedFailure, "the run is about to end and takes no updates", false, {}};
    return reply(std::move(refused));
  }
  const detail::MessageHandler* handler = find_in(handlers().updates, message.name);
  if (handler == nullptr) {
    refused.failure = unknown("update", message.name, handlers().updates);
    return reply(std::move(refused));
  }
  try {
    const Reading reading(*this, ReadOnly::kValidator);
    handler->check(*main_frame_, message.payload);
  } catch (const detail::NoInput& error) {
    refused.failure = error.failure();
    return reply(std::move(refused));
  } catch (...) {
    refused.stage = RequestStage::kRejected;
    refused.failure = detail::failure_of(std::current_exception());
    return reply(std::move(refused));
  }
  reply({RequestKind::kUpdate, message.text, RequestStage::kAccepted, {}, {}});
  HistoryEvent event;
  event.kind = EventKind::kUpdateAccepted;
  event.name = std::move(message.name);
  event.payload = std::move(message.payload);
  event.text = std::move(message.text);
  event.number = joined();
  event.at = now_;
  step(journal_.append(std::move(event)));
}

void Execution::apply_update(const HistoryEvent& event) {
  if (!has_code()) return;
  const detail::MessageHandler* handler = find_in(handlers().updates, event.name);
  if (handler == nullptr) return set_mismatch(event, "no handler for it", kRemovedCommandHint);
  start_handler(*handler, event);
}

const detail::ScopeRef& Execution::handler_scope(bool cancel_with_run) {
  MessageParts& parts = rare_.get().messages.get();
  detail::ScopeRef& scope = cancel_with_run ? parts.cancelable : parts.supervised;
  if (scope) return scope;
  scope = std::make_shared<ScopeState>(nullptr, ++scopes_, !cancel_with_run);
  scope->supervised = true;
  scope->shielded = !cancel_with_run;
  if (cancel_with_run && cancel_requested_) {
    scope->canceled = true;
    scope->reason = ending_.peek().cancel_reason;
  }
  return scope;
}

void Execution::start_handler(const detail::MessageHandler& handler, const HistoryEvent& event) {
  if (main_frame_ == nullptr) return;  // the state of the run could not be made: it has failed
  const detail::ScopeRef& above = handler_scope(handler.cancel_with_run);  // takes a number too
  const auto scope = std::make_shared<ScopeState>(above, ++scopes_, false);
  auto* task = new detail::TypedTaskOp<std::string>(
      *this, event.name, handler.start(*main_frame_, event.payload));
  tasks_.emplace(scope->id, OpRef(task));
  const bool update = event.kind == EventKind::kUpdateAccepted;
  MessageParts& parts = rare_.get().messages.get();
  ++parts.tasks;
  parts.running.emplace(scope->id,
                        RunningHandler{event.name, update ? event.id : EventId{}, event.text});
  task->start(scope);
}

/// Of the result of an update. The limit is a setting, which may have been another when history was
/// written: a replay takes what was said then.
bool Execution::is_too_large(const RunningHandler& handler, const std::string& result) const {
  if (mode_ == Mode::kLive) return result.size() > options_.max_payload_bytes;
  const HistoryEvent* recorded = journal_.peek();
  return recorded != nullptr && recorded->kind == EventKind::kUpdateFailed &&
         recorded->source == handler.accepted &&
         recorded->failure.message.starts_with(
             text_of_size("update '" + handler.name + "'", result.size()));
}

void Execution::handler_ended(detail::TaskOp& task, const RunningHandler& handler, bool canceled) {
  cancel_trees({task.scope}, "its handler has ended", true);
  std::optional<Failure> failure;
  if (task.error) failure = detail::failure_of(task.error);
  if (handler.accepted == EventId{}) {
    if (failure && !canceled) {
      log(kWarningLevel,
          "the handler of signal '" + handler.name + "' failed: " + failure->type + ": " +
              failure->message);
    }
    return;
  }
  std::string result;
  if (!failure) result = *static_cast<detail::TypedTaskOp<std::string>&>(task).value;
  if (!failure && is_too_large(handler, result)) {
    failure = mode_ == Mode::kLive ? too_large("update '" + handler.name + "'",
                                               result.size(),
                                               options_.max_payload_bytes)
                                   : journal_.peek()->failure;
    result.clear();
  }
  HistoryEvent event;
  event.kind = failure ? EventKind::kUpdateFailed : EventKind::kUpdateCompleted;
  event.source = handler.accepted;
  event.payload = result;
  if (failure) event.failure = *failure;
  if (!record_command(std::move(event))) return;
  reply({RequestKind::kUpdate,
         handler.update,
         failure ? RequestStage::kFailed : RequestStage::kAnswered,
         std::move(result),
         failure.value_or(Failure{})});
}

/// An update that is done at once needs no word of its being accepted.
void Execution::reply(Reply reply) {
  if (mode_ != Mode::kLive) return;
  std::vector<Reply>& replies = decisions().replies;
  if (!replies.empty() && replies.back().stage == RequestStage::kAccepted &&
      replies.back().request == reply.request && replies.back().kind == reply.kind) {
    replies.pop_back();
  }
  replies.push_back(std::move(reply));
}

void Execution::answer_query(Message& message) {
  if (mode_ >= Mode::kBroken || carry_over(message)) return;
  reply(reply_to_query(message));
}

Reply Execution::reply_to_query(const Message& message) {
  Reply reply{RequestKind::kQuery, message.text, RequestStage::kRefused, {}, {}};
  if (main_frame_ == nullptr) {
    const char* why = has_code() ? "the run ended before its code had begun"
                                 : "the run is ended without its code: there is no state to ask";
    reply.failure = {kRunEndedFailure, why, false, {}};
    return reply;
  }
  const detail::QueryHandler* handler = find_in(handlers().queries, message.name);
  if (handler == nullptr) {
    reply.failure = unknown("query", message.name, handlers().queries);
    return reply;
  }
  const Reading reading(*this, ReadOnly::kQuery);
  try {
    reply.payload = (*handler)(*main_frame_, message.payload);
    reply.stage = RequestStage::kAnswered;
  } catch (const detail::NoInput& error) {
    reply.failure = error.failure();
  } catch (...) {
    reply.stage = RequestStage::kFailed;
    reply.failure = detail::failure_of(std::current_exception());
  }
  if (reply.payload.size() > options_.max_payload_bytes) {
    reply.stage = RequestStage::kFailed;
    reply.failure =
        too_large("query '" + message.name + "'", reply.payload.size(), options_.max_payload_bytes);
    reply.payload.clear();
  }
  return reply;
}

}  // namespace perdure::replay
