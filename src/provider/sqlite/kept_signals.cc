#include "provider/sqlite/kept_signals.h"

#include <algorithm>
#include <map>

#include "model/handled.h"
#include "provider/sqlite/operations.h"
#include "provider/sqlite/outbox.h"

namespace perdure::sqlite {

namespace {

using Runs = std::map<InstanceKey, ExecutionNo>;

void send_wake(WriteContext& context, InstanceKey instance, ExecutionNo execution) {
  Message message;
  message.kind = MessageKind::kWake;
  message.execution = execution;
  message.visible_at = context.now;
  enqueue(context, instance, message);
}

/// A turn is due, by something else than a query, and nobody has begun it: it will do.
bool is_due(Connection& db, InstanceKey instance, TimePoint now) {
  const auto ready = load_ready(db, instance);
  return ready && !ready->problem && !ready->lock &&
         db.query(Sql::kHasDueMessage, instance, now).next();
}

void read_runs(Query rows, Runs& runs) {
  while (rows.next()) runs.emplace(rows.id<InstanceKey>(0), rows.id<ExecutionNo>(1));
}

void wake(WriteContext& context, const Runs& runs) {
  for (const auto& [instance, execution] : runs) {
    if (!is_due(context.db, instance, context.now)) send_wake(context, instance, execution);
  }
}

}  // namespace

bool note_kept_signals(WriteContext& context,
                       InstanceKey instance,
                       const std::vector<HistoryEvent>& events) {
  bool kept = false;
  for (const HistoryEvent& event : events) {
    if (event.kind != EventKind::kSignalReceived) continue;
    if (is_kept(event)) {
      keep_signal(context, instance, event);
      kept = true;
    } else if (event.source != EventId{}) {
      context.db.run(Sql::kTakeKeptSignal, event.name, instance, event.source);
    }
  }
  return kept;
}

void keep_signal(WriteContext& context, InstanceKey instance, const HistoryEvent& event) {
  context.db.run(Sql::kKeepSignal, event.name, instance, event.id);
}

void forget_kept_signals(WriteContext& context, InstanceKey instance) {
  context.db.run(Sql::kForgetKeptSignals, instance);
}

void wake_for_declared(WriteContext& context,
                       const InstanceRow& instance,
                       const std::string& version,
                       const std::vector<HistoryEvent>& events) {
  InstanceRow as_served = instance;
  as_served.version = version;
  const bool declared = std::any_of(events.begin(), events.end(), [&](const HistoryEvent& event) {
    return is_kept(event) && is_declared(context.db, as_served, event.name);
  });
  if (declared) send_wake(context, instance.key, instance.current);
}

void wake_for_process(WriteContext& context, const std::vector<DeclaredSignals>& declared) {
  Runs runs;
  for (const DeclaredSignals& code : declared) {
    for (const std::string& signal : code.signals) {
      read_runs(context.db.query(Sql::kRunsThatKeep, code.orchestration, code.version, signal),
                runs);
    }
  }
  wake(context, runs);
}

void wake_for_others(WriteContext& context, Epoch ending) {
  Runs runs;
  read_runs(context.db.query(Sql::kRunsOthersServe, ending), runs);
  wake(context, runs);
}

}  // namespace perdure::sqlite
