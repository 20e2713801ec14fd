#include <csignal>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

#include "base/clock.h"
#include "provider/token_mint.h"
#include "tests/conformance/conformance.h"
#include "tests/conformance/peer.h"

namespace perdure::conformance {

namespace {

constexpr std::size_t kDrainedAtOnce = 4;

/// Carries the error of a provider call to the answer line.
struct Refused {
  Error error;
};

template <class T>
T value_of(Result<T> result) {
  if (!result.ok()) throw Refused{result.error()};
  return std::move(result).value();
}

template <class T>
void expect_only_entry(Result<Batch<T>> batch) {
  Batch<T> entries = value_of(std::move(batch));
  if (entries.size() != 1) throw Refused{corrupt("a batch of one must have one answer")};
  if (!entries[0].ok()) throw Refused{entries[0].error()};
}

/// What a peer remembers between two commands. One command is one method.
class Session {
 public:
  Session(Provider& store, VirtualClock& clock) : store_(store), clock_(clock) {}

  std::string register_process() {
    RegisterProcess request;
    request.host = "peer";
    request.pid = ::getpid();
    request.queues = {kQueue};
    mint_ = std::make_unique<TokenMint>(value_of(store_.register_process(std::move(request))));
    return std::to_string(mint_->epoch().value);
  }

  std::string lock_instances(std::size_t count, Duration lock_for) {
    std::string ids;
    for (const OrchestrationItem& item : fetch(count, lock_for)) {
      ids += item.id + ' ';
      locked_.insert_or_assign(item.id, item);
    }
    return ids;
  }

  std::string claim_work(std::size_t count, Duration lock_for) {
    FetchWorkItems request;
    request.epoch = mint().epoch();
    request.queue = kQueue;
    request.names = {kTask};
    request.tokens = mint().next(count);
    request.lock_for = lock_for;
    const FetchedWorkItems fetched = value_of(store_.fetch_work_items(std::move(request)));
    std::string ids;
    for (const WorkItem& item : fetched.items) {
      ids += std::to_string(item.id.value) + ' ';
      claimed_[item.id] = item.lock;
    }
    return ids;
  }

  std::string commit_turn(const std::string& id) {
    const auto found = locked_.find(id);
    if (found == locked_.end()) throw Refused{not_found("the peer has not locked " + id)};
    commit(empty_turn(found->second));
    locked_.erase(found);
    return {};
  }

  std::string complete_work(WorkId id) {
    const auto found = claimed_.find(id);
    if (found == claimed_.end()) throw Refused{not_found("the peer has not claimed this row")};
    AckWorkItems request;
    request.entries.resize(1);
    request.entries[0].id = id;
    request.entries[0].lock = found->second;
    request.entries[0].outcome.result = "\"peer\"";
    expect_only_entry(store_.ack_work_items(std::move(request)));
    claimed_.erase(found);
    return {};
  }

  std::string heartbeat() {
    HeartbeatProcess request;
    request.epoch = mint().epoch();
    return std::to_string(value_of(store_.heartbeat_process(request)));
  }

  std::string start_instance(const std::string& id) {
    StartOrchestration request;
    request.id = id;
    request.name = kFlow;
    request.version = kVersion;
    request.queue = kQueue;
    request.input = "null";
    value_of(store_.start_orchestration(std::move(request)));
    return {};
  }

  std::string drain_instances() {
    int done = 0;
    for (;;) {
      const auto items = fetch(kDrainedAtOnce, kLock);
      if (items.empty()) return std::to_string(done);
      for (const OrchestrationItem& item : items) {
        TurnCommit turn = empty_turn(item);
        turn.events.resize(1);
        turn.events[0].id = EventId{item.last_event.value + 1};
        turn.events[0].kind = EventKind::kCompleted;
        turn.status = ExecutionStatus::kCompleted;
        commit(std::move(turn));
        ++done;
      }
    }
  }

  std::string advance(Duration step) {
    clock_.advance(step);
    return {};
  }

 private:
  TokenMint& mint() {
    if (!mint_) throw Refused{not_found("the peer is not registered")};
    return *mint_;
  }

  std::vector<OrchestrationItem> fetch(std::size_t count, Duration lock_for) {
    FetchOrchestrationItems request;
    request.epoch = mint().epoch();
    request.queue = kQueue;
    request.served = {{kFlow, kVersion}};
    request.tokens = mint().next(count);
    request.lock_for = lock_for;
    return value_of(store_.fetch_orchestration_items(std::move(request))).items;
  }

  static TurnCommit empty_turn(const OrchestrationItem& item) {
    TurnCommit turn;
    turn.instance = item.instance;
    turn.execution = item.execution;
    turn.lock = item.lock;
    turn.status = item.status;
    return turn;
  }

  void commit(TurnCommit turn) {
    AckOrchestrationItems request;
    request.entries.push_back(std::move(turn));
    expect_only_entry(store_.ack_orchestration_items(std::move(request)));
  }

  Provider& store_;
  VirtualClock& clock_;
  std::unique_ptr<TokenMint> mint_;
  std::map<std::string, OrchestrationItem> locked_;
  std::map<WorkId, LockToken> claimed_;
};

template <class T>
T argument(std::istream& in) {
  T value{};
  if (!(in >> value)) throw Refused{invalid_argument("an argument is missing")};
  return value;
}

Duration duration(std::istream& in) {
  return Duration{argument<std::int64_t>(in)};
}

std::string run(Session& session, const std::string& line) {
  std::istringstream in(line);
  const auto command = argument<std::string>(in);
  if (command == "register") return session.register_process();
  if (command == "heartbeat") return session.heartbeat();
  if (command == "drain") return session.drain_instances();
  if (command == "advance") return session.advance(duration(in));
  if (command == "start") return session.start_instance(argument<std::string>(in));
  if (command == "commit") return session.commit_turn(argument<std::string>(in));
  if (command == "complete") return session.complete_work(WorkId{argument<std::int64_t>(in)});
  if (command == "lock" || command == "claim") {
    const auto count = argument<std::size_t>(in);
    const Duration lock_for = duration(in);
    return command == "lock" ? session.lock_instances(count, lock_for)
                             : session.claim_work(count, lock_for);
  }
  throw Refused{invalid_argument("unknown command " + command)};
}

std::string error_line(const Error& error) {
  std::string line = "error " + std::string(to_string(error.code)) + ' ' + error.message;
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  return line;
}

std::string answer_to(Session& session, const std::string& line) {
  try {
    return "ok " + run(session, line);
  } catch (const Refused& refused) {
    return error_line(refused.error);
  }
}

/// The line to the test. Whatever else this process prints goes to stderr.
class AnswerLine {
 public:
  AnswerLine() : file_(::fdopen(::dup(STDOUT_FILENO), "w")) {
    if (file_ == nullptr || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
      throw std::runtime_error("cannot take over stdout");
    }
  }
  AnswerLine(const AnswerLine&) = delete;
  AnswerLine& operator=(const AnswerLine&) = delete;
  ~AnswerLine() { std::fclose(file_); }

  void say(const std::string& line) {
    std::fputs((line + '\n').c_str(), file_);
    std::fflush(file_);
  }

 private:
  std::FILE* file_;
};

}  // namespace

int peer_main(int argc, char** argv, const PeerOpener& open) {
  // A test that dies takes its peers along; one that died before this line has closed our stdin.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " URL START_MICROS\n";
    return 2;
  }
  AnswerLine answers;
  VirtualClock clock(time_from_micros(std::stoll(argv[2])));
  auto store = open(argv[1], clock);
  if (!store.ok()) {
    answers.say(error_line(store.error()));
    return 1;
  }
  Session session(**store, clock);
  answers.say("ok ready");
  std::string line;
  while (std::getline(std::cin, line)) answers.say(answer_to(session, line));
  return 0;
}

}  // namespace perdure::conformance
