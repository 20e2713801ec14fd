#include "tests/sqlite/soak/participant.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <unistd.h>

#include <sqlite3.h>

#include "provider/sqlite/connection.h"

namespace perdure::sqlite::soak {

namespace {

using namespace std::chrono_literals;
using crash::kFlow;
using crash::kQueue;
using crash::kTask;
using crash::kVersion;
using crash::value_of;

/// Short, so that what the dead held expires while the loop runs.
constexpr Duration kLockFor = 1s;
constexpr std::size_t kBatch = 4;
/// Nothing here may be given up, however often its holder is killed.
constexpr int kNeverPoison = 1'000'000;

std::unique_ptr<Provider> open_store(const Participant::Options& wanted) {
  Options options;
  options.path = wanted.store;
  options.durability = wanted.durability;
  return value_of(open(options), "open");
}

[[noreturn]] void give_up(const std::string& why) {
  std::cerr << "violation: a process of the kill loop gives up: " << why << std::endl;
  std::_Exit(1);
}

void pause_of(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
}

}  // namespace

template <class Request>
auto Participant::ask(Request request) {
  auto& unanswered = ledger_.standing(options_.side).unanswered;
  ++unanswered;
  auto answer = store_->call(std::move(request));
  --unanswered;
  return answer;
}

Participant::Participant(Options options, Ledger& ledger)
    : options_(std::move(options)), ledger_(ledger), store_(open_store(options_)) {
  const RegisterProcess request{.host = "soak", .pid = ::getpid(), .queues = {kQueue}};
  mint_ = std::make_unique<TokenMint>(value_of(ask(request), "register"));
}

Participant::~Participant() {
  stopped_ = true;
  for (std::thread& thread : threads_) thread.join();
}

void Participant::note(std::int64_t number,
                       const Status& answer,
                       std::initializer_list<ErrorCode> expected) {
  if (answer.ok()) return ledger_.set(number, Known::kAcknowledged);
  for (const ErrorCode code : expected) {
    if (answer.code() == code) return ledger_.set(number, Known::kRefused);
  }
  give_up("write " + std::to_string(number) + ": " + answer.error().message);
}

void Participant::run_thread(Body body) {
  const std::uint64_t seed = options_.seed + threads_.size();
  threads_.emplace_back([this, seed, body = std::move(body)] {
    SeededRandom random(seed);
    try {
      while (!stopped_) body(random);
    } catch (const std::exception& error) {
      give_up(error.what());
    }
  });
}

void Participant::run_clients(int threads, std::chrono::milliseconds pause) {
  for (int i = 0; i < threads; ++i) {
    run_thread([this, pause](Random& random) {
      if (ledger_.full()) return pause_of(5ms);
      call_once(random);
      if (pause > 0ms) pause_of(pause);
    });
  }
}

void Participant::run_workers(int threads) {
  for (int i = 0; i < threads; ++i) {
    run_thread([this](Random&) {
      if (!take_turns()) pause_of(2ms);
    });
    run_thread([this](Random& random) {
      if (!do_work(random)) pause_of(2ms);
    });
  }
}

void Participant::run_housekeeping() {
  run_thread([this](Random&) {
    keep_house();
    pause_of(20ms);
  });
}

void Participant::run_copies() {
  run_thread([this](Random& random) {
    auto db = Connection::open(options_.store, Access::kReadWrite);
    const int how = random.next() % 2 == 0 ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE;
    db->exec("PRAGMA schema_version");
    const int result = sqlite3_wal_checkpoint_v2(db->raw(), nullptr, how, nullptr, nullptr) & 0xff;
    if (result != SQLITE_OK && result != SQLITE_BUSY && result != SQLITE_LOCKED) {
      give_up(std::string("checkpoint: ") + sqlite3_errstr(result));
    }
    db.reset();
    pause_of(std::chrono::milliseconds(random.next() % 100));
  });
}

// --- Clients ---------------------------------------------------------------------------------

std::int64_t Participant::begin_call(What what, char flavour, std::int64_t run) {
  Note begun;
  begun.what = what;
  begun.by = options_.side;
  begun.flavour = flavour;
  begun.run = run;
  return ledger_.begin(begun);
}

void Participant::call_once(Random& random) {
  constexpr std::array kFlavours{kSteps, kSteps, kGather, kParent, kCanceled};
  const char flavour = kFlavours.at(random.next() % kFlavours.size());
  const std::int64_t run = begin_call(What::kStart, flavour, 0);
  start(run, flavour);
  make_up(run, flavour, 0);
}

void Participant::make_up(std::int64_t run, char flavour, int calls) {
  const int wanted = flavour == kGather ? kGathered : flavour == kCanceled ? 1 : 0;
  for (; calls < wanted && !stopped_; ++calls) {
    if (flavour == kGather) raise(begin_call(What::kRaise, flavour, run), run);
    if (flavour == kCanceled) cancel(begin_call(What::kCancel, flavour, run), run);
  }
}

void Participant::start(std::int64_t number, char flavour) {
  StartOrchestration request = crash::start_request(run_id(flavour, number));
  request.request_id = request_id(What::kStart, number);
  const auto answer = ask(std::move(request));
  if (answer.ok() && answer->outcome != StartOutcome::kStarted) give_up("start: not started");
  note(number, crash::status_of(answer), {});
}

void Participant::raise(std::int64_t number, std::int64_t run) {
  RaiseEvent request;
  request.id = run_id(kGather, run);
  request.name = "go";
  request.payload = trace(What::kRaise, number);
  request.request_id = request_id(What::kRaise, number);
  const auto answer = ask(std::move(request));
  if (answer.ok() && *answer != EventDelivery::kDelivered) give_up("raise: not delivered");
  note(number, crash::status_of(answer), {});
}

void Participant::cancel(std::int64_t number, std::int64_t run) {
  CancelOrchestration request;
  request.id = run_id(kCanceled, run);
  request.request_id = request_id(What::kCancel, number);
  const auto answer = ask(std::move(request));
  if (answer.ok() && !answer->changed) give_up("cancel: it was canceled before");
  note(number, crash::status_of(answer), {});
}

void Participant::repeat(const NumberedNote& begun) {
  switch (begun.note.what) {
    case What::kStart:
      return start(begun.number, begun.note.flavour);
    case What::kRaise:
      return raise(begun.number, begun.note.run);
    case What::kCancel:
      return cancel(begun.number, begun.note.run);
    default:
      return;  // Turns and work come back by themselves.
  }
}

void Participant::carry_on_for(const std::vector<Side>& sides) {
  std::map<std::int64_t, int> calls;
  const std::vector<NumberedNote> all = ledger_.read();
  for (const NumberedNote& one : all) {
    if (one.note.what == What::kRaise || one.note.what == What::kCancel) ++calls[one.note.run];
  }
  for (const NumberedNote& one : all) {
    if (std::find(sides.begin(), sides.end(), one.note.by) == sides.end()) continue;
    if (one.known == Known::kBegun) repeat(one);
    if (one.note.what == What::kStart) make_up(one.number, one.note.flavour, calls[one.number]);
  }
}

// --- Turns, work, housekeeping ---------------------------------------------------------------

std::vector<HistoryEvent> Participant::history(const OrchestrationItem& item) {
  const HistoryQuery query{.instance = item.instance, .execution = item.execution};
  auto pages = value_of(store_->read_history({query}), "history");
  return value_of(std::move(pages.at(0)), "history").events;
}

bool Participant::take_turns() {
  FetchOrchestrationItems fetch;
  fetch.epoch = mint_->epoch();
  fetch.queue = kQueue;
  fetch.served = {{kFlow, kVersion}};
  fetch.tokens = mint_->next(kBatch);
  fetch.lock_for = kLockFor;
  const auto fetched = value_of(ask(std::move(fetch)), "fetch");
  if (fetched.items.empty()) return false;

  AckOrchestrationItems batch;
  std::vector<std::int64_t> numbers;
  for (const OrchestrationItem& item : fetched.items) {
    if (item.problem) give_up(item.problem->message);
    batch.entries.push_back(next_turn(item, history(item), fetched.now).commit);
    Note begun;
    begun.what = What::kTurn;
    begun.by = options_.side;
    begun.flavour = flavour_of(item.id);
    begun.instance = item.instance.value;
    begun.execution = item.execution.value;
    begun.event = item.last_event.value + 1;
    begun.events = static_cast<std::int64_t>(batch.entries.back().events.size());
    begun.epoch = item.lock.epoch.value;
    begun.serial = item.lock.serial;
    numbers.push_back(ledger_.begin(begun));
  }
  const auto answers = value_of(ask(std::move(batch)), "ack of turns");
  std::vector<AbandonedOrchestrationItem> refused;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto& answer = answers.at(i);
    note(numbers[i], crash::status_of(answer), {ErrorCode::kLockLost, ErrorCode::kConflict});
    if (!answer.ok() && answer.code() == ErrorCode::kConflict) {
      refused.push_back({.instance = fetched.items[i].instance, .lock = fetched.items[i].lock});
    }
  }
  if (!refused.empty()) abandon(refused);
  return true;
}

void Participant::abandon(const std::vector<AbandonedOrchestrationItem>& items) {
  AbandonOrchestrationItems batch;
  batch.entries = items;
  for (const auto& answer : value_of(ask(std::move(batch)), "abandon")) {
    if (!answer.ok() && answer.code() != ErrorCode::kLockLost) give_up(answer.error().message);
  }
}

bool Participant::do_work(Random& random) {
  FetchWorkItems fetch;
  fetch.epoch = mint_->epoch();
  fetch.queue = kQueue;
  fetch.names = {kTask};
  fetch.tokens = mint_->next(kBatch);
  fetch.lock_for = kLockFor;
  fetch.max_suspects = kBatch;
  fetch.max_losses = kNeverPoison;
  const auto fetched = value_of(ask(std::move(fetch)), "claim");
  if (!fetched.problems.empty()) give_up(fetched.problems[0].message);
  if (fetched.items.empty()) return false;

  AckWorkItems batch;
  std::vector<std::int64_t> numbers;
  for (const WorkItem& item : fetched.items) {
    SettledWork settled{.id = item.id, .lock = item.lock};
    Note begun;
    begun.what = What::kWork;
    begun.by = options_.side;
    begun.instance = item.owner.instance.value;
    begun.execution = item.owner.execution.value;
    begun.event = item.owner.event.value;
    const std::int64_t number = ledger_.begin(begun);
    numbers.push_back(number);
    settled.outcome.result = trace(What::kWork, number);
    if (random.next() % 8 == 0) {
      settled.outcome.kind = WorkOutcome::Kind::kRetryAt;
      settled.outcome.delay = 1ms;
      // Nothing of it is told to the run.
      ledger_.set(number, Known::kRefused);
      numbers.back() = -1;
    }
    batch.entries.push_back(std::move(settled));
  }
  const auto answers = value_of(ask(std::move(batch)), "ack of work");
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] >= 0) {
      note(numbers[i], crash::status_of(answers.at(i)), {ErrorCode::kLockLost});
    } else if (!answers.at(i).ok() && answers.at(i).code() != ErrorCode::kLockLost) {
      give_up(answers.at(i).error().message);
    }
  }
  return true;
}

void Participant::keep_house() {
  value_of(ask(HeartbeatProcess{.epoch = mint_->epoch()}), "heartbeat");
  value_of(ask(SweepWorkItems{.max_losses = kNeverPoison}), "sweep");
  value_of(ask(CarryOnCascades{}), "cascades");
  for (const ProcessInfo& process : value_of(store_->list_processes(), "processes")) {
    const bool wanted = options_.take_over_all || process.epoch.value % 2 != 0;
    if (!process.lock_released || !wanted) continue;
    const auto ended = ask(TakeOverProcess{.epoch = process.epoch, .max_losses = kNeverPoison});
    if (!ended.ok() && ended.code() != ErrorCode::kNotFound) give_up(ended.error().message);
  }
}

}  // namespace perdure::sqlite::soak
