#include "tests/engine/random_life.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "tests/engine/random_orchestration.h"

namespace perdure::test {

namespace {

constexpr int kPatience = 30;  // turns until somebody cancels
constexpr int kCleanup = 40;   // turns until the cleanup deadline
constexpr int kTooMany = 400;  // every run has ended long before

const detail::OrchestrationHandler& handler() {
  static const Registry registry = [] {
    Registry made;
    add_random_run(made);
    return made;
  }();
  return *registry.table()->find_orchestration(random_run.name(), "");
}

/// What is the same for all lives of a run.
struct World {
  Dice dice;
  TimePoint now{std::chrono::hours(500'000)};
  std::int64_t messages = 0;    ///< sent to handlers
  std::vector<Message> left{};  ///< to the next life
};

/// The world around one execution: what it sends next.
class Outside {
 public:
  Outside(World& world, ModelStore& store, std::int64_t execution)
      : world_(world), dice_(world.dice), store_(store), execution_(execution), now_(world.now) {}

  std::vector<Message> next(int turn, bool first) {
    std::vector<Message> batch;
    if (turn == 0) batch = std::exchange(world_.left, {});
    if (!first || dice_.once_in(4)) {
      const int size = 1 + dice_.pick(3);
      for (int i = 0; i < size; ++i) add_one(batch);
    }
    const bool cancels = !store_.canceled() && (dice_.once_in(60) || turn > kPatience);
    if (cancels) batch.push_back(cancel());
    if (store_.canceled() && turn > kCleanup)
      batch.push_back(of_run(MessageKind::kCleanupDeadline));
    now_ += std::chrono::seconds(dice_.pick(3));
    return batch;
  }

  void keep(const std::vector<Message>& sent) {
    for (const Message& message : sent) {
      if (belongs_to_execution(message.kind)) sent_.push_back(message);
    }
  }

 private:
  Message of_run(MessageKind kind) const {
    Message message;
    message.kind = kind;
    message.execution = ExecutionNo{execution_};
    return message;
  }

  Message cancel() {
    if (!store_.canceled()) store_.cancel();
    Message message;
    message.kind = MessageKind::kCancel;
    message.text = "reason " + std::to_string(dice_.pick(9));
    return message;
  }

  Message event(std::string name) {
    Message message;
    message.kind = MessageKind::kEventRaised;
    message.name = std::move(name);
    message.payload = payload();
    return message;
  }

  std::string payload() {
    return dice_.once_in(40) ? "\"no number\"" : std::to_string(dice_.pick(1000));
  }

  /// To a handler, or to none.
  Message told(MessageKind kind, std::initializer_list<std::string_view> names) {
    Message message;
    message.kind = kind;
    message.id = MessageId{++world_.messages};
    message.name = std::string(*std::next(names.begin(), index(names.size())));
    message.payload = payload();
    message.text = "request " + std::to_string(world_.messages);
    return message;
  }

  void tell(std::vector<Message>& batch) {
    switch (dice_.pick(6)) {
      case 0:
      case 1:
        batch.push_back(told(
            MessageKind::kSignal,
            {random_signal.name(), random_signal_of_run.name(), plain_signal.name(), "nobody"}));
        return;
      case 2:
        batch.push_back(told(MessageKind::kUpdate,
                             {random_update.name(), random_update_of_run.name(), "nobody"}));
        return;
      case 3:
        if (store_.draining()) batch.push_back(of_run(MessageKind::kDrainDeadline));
        return;
      default:
        batch.push_back(told(MessageKind::kQuery, {digest.name()}));
    }
  }

  void add_one(std::vector<Message>& batch) {
    switch (dice_.pick(20)) {
      case 0:
        batch.push_back(event(dice_.once_in(2) ? "ev0" : "ev1"));
        return;
      case 1:
        batch.push_back(event("s_ev"));
        return;
      case 2:
        if (!sent_.empty()) batch.push_back(sent_[index(sent_.size())]);  // late, or doubled
        return;
      case 3: {
        Message stale = of_run(MessageKind::kActivityCompleted);
        stale.execution = ExecutionNo{execution_ + dice_.pick(3) - 1};
        stale.source = EventId{dice_.pick(40)};
        stale.payload = "1";
        if (stale.execution.value != execution_) batch.push_back(std::move(stale));
        return;
      }
      case 4:
        if (dice_.once_in(8)) batch.push_back(of_run(MessageKind::kCleanupDeadline));
        if (store_.canceled() && dice_.once_in(4)) batch.push_back(cancel());
        return;
      case 5:
      case 6:
      case 7:
        return tell(batch);
      case 8:
        if (dice_.once_in(8)) batch.push_back(of_run(MessageKind::kDrainDeadline));
        return;
      default:
        answer_something(batch);
    }
  }

  void answer_something(std::vector<Message>& batch) {
    const std::vector<std::string> waits = store_.open_waits();
    const std::size_t all =
        store_.work().size() + store_.timers().size() + store_.children().size() + waits.size();
    if (all == 0) return;
    std::size_t at = index(all);
    if (at < store_.work().size()) return answer_work(*std::next(store_.work().begin(), at), batch);
    at -= store_.work().size();
    if (at < store_.timers().size()) {
      return fire(std::next(store_.timers().begin(), at)->second, batch);
    }
    at -= store_.timers().size();
    if (at < store_.children().size()) {
      return answer_child(*std::next(store_.children().begin(), at), batch);
    }
    batch.push_back(event(waits[at - store_.children().size()]));
  }

  void answer_work(const std::pair<const std::int64_t, ModelStore::Work>& row,
                   std::vector<Message>& batch) {
    Message message = of_run(MessageKind::kActivityCompleted);
    message.source = EventId{row.first};
    message.payload = payload();
    if (row.second.marked && !dice_.once_in(3)) {
      message.kind = MessageKind::kActivityCanceled;
      message.payload.clear();
    } else if (dice_.once_in(12)) {
      message.kind = MessageKind::kActivityFailed;
      message.payload.clear();
      message.failure = {"broken", "as the dice have it", false, {}};
    }
    batch.push_back(std::move(message));
  }

  void fire(const NewTimer& timer, std::vector<Message>& batch) {
    now_ = std::max(now_, timer.due);
    Message message = of_run(MessageKind::kTimerFired);
    message.source = timer.event;
    batch.push_back(std::move(message));
  }

  void answer_child(const std::pair<const std::int64_t, ModelStore::Child>& row,
                    std::vector<Message>& batch) {
    constexpr MessageKind kOtherEnds[] = {MessageKind::kChildFailed,
                                          MessageKind::kChildTerminated,
                                          MessageKind::kChildStartFailed,
                                          MessageKind::kChildCanceled};
    Message message = of_run(MessageKind::kChildCompleted);
    message.source = EventId{row.first};
    if (row.second.canceled) message.kind = MessageKind::kChildCanceled;
    if (dice_.once_in(8)) message.kind = kOtherEnds[dice_.pick(4)];
    if (message.kind == MessageKind::kChildCompleted) message.payload = payload();
    if (message.kind == MessageKind::kChildFailed) message.failure = {"broken", "child", true, {}};
    batch.push_back(std::move(message));
  }

  std::size_t index(std::size_t size) {
    return static_cast<std::size_t>(dice_.pick(static_cast<int>(size)));
  }

  World& world_;
  Dice& dice_;
  ModelStore& store_;
  std::int64_t execution_;
  TimePoint& now_;
  std::vector<Message> sent_;
};

bool is_kept(const PlayedTurn& turn, const Message& message) {
  const std::vector<MessageId>& kept = turn.decisions.kept_messages;
  return std::find(kept.begin(), kept.end(), message.id) != kept.end();
}

bool is_replied(const PlayedTurn& turn, const Message& message) {
  const std::vector<Reply>& replies = turn.decisions.replies;
  return std::any_of(replies.begin(), replies.end(), [&](const Reply& reply) {
    return reply.request == message.text;
  });
}

/// Signals that a turn has taken or keeps, by events of its own.
std::int64_t signals_in(const PlayedTurn& turn) {
  const std::vector<HistoryEvent>& events = turn.decisions.events;
  return std::count_if(events.begin(), events.end(), [](const HistoryEvent& event) {
    return event.kind == EventKind::kSignalReceived && event.source == EventId{};
  });
}

/// Puts aside what the next life is to get. What would be lost, or nothing: the commit that ends a
/// run answers requests that its turn did not, and updates that come while main waits to continue
/// as new are held by the store.
std::string leave_to_next(const PlayedTurn& turn, World& world) {
  const replay::TurnDecisions& made = turn.decisions;
  if (is_terminal(made.status) && !made.next) return "";
  std::int64_t signals = 0;
  for (const Message& message : turn.messages) {
    const bool update = message.kind == MessageKind::kUpdate;
    const bool request = update || message.kind == MessageKind::kQuery;
    if (is_kept(turn, message)) {
      world.left.push_back(message);
    } else if (message.kind == MessageKind::kSignal) {
      ++signals;
    } else if (request && !is_replied(turn, message)) {
      const bool held = made.next || made.status == ExecutionStatus::kCompleting;
      if (!update || !held) return "nobody answers " + message.text;
      world.left.push_back(message);
    }
  }
  return signals == signals_in(turn) ? "" : "a signal is lost, or taken twice";
}

std::vector<HistoryEvent> begin_history(std::string input,
                                        std::vector<HistoryEvent> carried,
                                        TimePoint now) {
  std::vector<HistoryEvent> history(1);
  HistoryEvent& start = history.front();
  start.kind = EventKind::kStarted;
  start.name = std::string(random_run.name());
  start.payload = std::move(input);
  start.number = static_cast<std::int64_t>(carried.size());
  std::move(carried.begin(), carried.end(), std::back_inserter(history));
  for (std::size_t i = 0; i < history.size(); ++i) {
    history[i].id = EventId{static_cast<std::int64_t>(i + 1)};
    history[i].at = now;
  }
  return history;
}

/// Plays one life; what it continues as, if it does.
std::optional<NextExecution> play_life(World& world,
                                       bool canceled_before,
                                       PlayedLife& life,
                                       std::string& broken) {
  RewindableRandom random;
  ModelStore store(life.history);
  Outside outside(world, store, life.execution);
  const std::unique_ptr<replay::Execution> execution = fresh(life, random);
  execution->replay(life.history, false);
  for (int turn = 0; !store.has_ended(); ++turn) {
    if (turn > kTooMany) {
      broken = "it does not end";
      return std::nullopt;
    }
    PlayedTurn played;
    played.events_before = store.history().size();
    // A life that begins canceled is one whose cancel came between its start and its first turn.
    played.messages = outside.next(turn, turn == 0 && !canceled_before);
    played.now = world.now;
    played.random = world.dice.next();
    replay::TurnResult result = play_again(*execution, random, played);
    played.decisions = result.decisions;
    played.log = std::move(result.log);
    life.turns.push_back(std::move(played));
    if (result.mismatch) broken = "mismatch while live " + to_string(*result.mismatch);
    if (broken.empty()) broken = store.commit(result.decisions).value_or("");
    if (broken.empty()) broken = leave_to_next(life.turns.back(), world);
    life.history = store.history();
    outside.keep(life.turns.back().messages);
    if (!broken.empty()) return std::nullopt;
  }
  return life.turns.back().decisions.next;
}

}  // namespace

std::unique_ptr<replay::Execution> fresh(const PlayedLife& life, RewindableRandom& random) {
  return std::make_unique<replay::Execution>(
      replay::ExecutionSpec{
          "run-1", ExecutionNo{life.execution}, std::string(random_run.name()), "", "default"},
      handler(),
      replay::ExecutionOptions{replay::ArgumentCheck::kStrict},
      random);
}

replay::TurnResult play_again(replay::Execution& execution,
                              RewindableRandom& random,
                              const PlayedTurn& turn) {
  random.rewind(turn.random);
  set_outside_world(static_cast<std::int64_t>(turn.random >> 20));
  return execution.turn(turn.messages, turn.now);
}

PlayedRun play(std::uint64_t seed) {
  PlayedRun run;
  World world{.dice = Dice(seed * 0x2545F4914F6CDD1DULL + 1)};
  std::string input = std::to_string(static_cast<std::int64_t>(seed) * kLives);
  std::vector<HistoryEvent> carried;
  for (std::int64_t execution = 1;; ++execution) {
    PlayedLife& life = run.lives.emplace_back();
    life.execution = execution;
    life.history = begin_history(std::move(input), std::move(carried), world.now);
    const bool busy = execution > 1 && world.dice.once_in(3);
    world.now += std::chrono::seconds(world.dice.pick(3));
    auto next = play_life(world, busy, life, run.broken);
    if (!next) return run;
    input = std::move(next->input);
    carried = std::move(next->carried);
  }
}

}  // namespace perdure::test
