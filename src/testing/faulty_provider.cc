#include "testing/faulty_provider.h"

#include <optional>
#include <utility>
#include <vector>

namespace perdure::testing {

void FaultyProvider::fail_next_commits(int commits, CommitFault fault) {
  for (int i = 0; i < commits; ++i) faults_.push_back(fault);
}

void FaultyProvider::note_queues(const TurnCommit& commit) {
  for (const NewWork& work : commit.work) queues_.insert(work.queue);
  for (const NewChild& child : commit.children) queues_.insert(child.queue);
}

void FaultyProvider::submit(StartOrchestration request,
                            Completion<OrchestrationStarted> done,
                            CallOptions options) {
  queues_.insert(request.queue);
  target().submit(std::move(request), std::move(done), options);
}

void FaultyProvider::submit(AckOrchestrationItems request,
                            Completion<Batch<TurnCommitted>> done,
                            CallOptions options) {
  for (const TurnCommit& commit : request.entries) note_queues(commit);
  if (faults_.empty()) return target().submit(std::move(request), std::move(done), options);
  Batch<TurnCommitted> answers;
  for (TurnCommit& commit : request.entries) {
    if (!faults_.empty()) {
      const CommitFault fault = faults_.front();
      faults_.pop_front();
      answers.push_back(disturbed(std::move(commit), fault, options));
      continue;
    }
    AckOrchestrationItems one;
    one.entries.push_back(std::move(commit));
    auto answer = target().call(std::move(one), options);
    answers.push_back(answer.ok() ? std::move(answer->front())
                                  : Result<TurnCommitted>(answer.error()));
  }
  done(std::move(answers));
}

Result<TurnCommitted> FaultyProvider::disturbed(TurnCommit commit,
                                                CommitFault fault,
                                                CallOptions options) {
  switch (fault) {
    case CommitFault::kRefused:
      return conflict("this commit was made to fail");
    case CommitFault::kUnavailable:
      return unavailable("this commit was made to fail");
    case CommitFault::kUnknown:
      return commit_unknown("the answer of this commit was made to get lost");
    case CommitFault::kLockLost: {
      AbandonOrchestrationItems taken;
      taken.entries.push_back(
          {.instance = commit.instance, .lock = commit.lock, .charge = Charge::kLoss});
      const auto answer = target().call(std::move(taken), options);
      if (!answer.ok()) return answer.error();
      return lock_lost("this lock was made to get lost");
    }
    case CommitFault::kAnswerLost: {
      AckOrchestrationItems one;
      one.entries.push_back(std::move(commit));
      const auto answer = target().call(std::move(one), options);
      if (!answer.ok()) return answer.error();
      if (!answer->front().ok()) return answer->front().error();
      return commit_unknown("the answer of this commit was made to get lost");
    }
  }
  return unavailable("an unknown fault");
}

void FaultyProvider::submit(AckWorkItems request,
                            Completion<Batch<void>> done,
                            CallOptions options) {
  if (claims_to_lose_ == 0) return target().submit(std::move(request), std::move(done), options);
  std::vector<bool> lost;
  AckWorkItems rest;
  for (SettledWork& settled : request.entries) {
    lost.push_back(claims_to_lose_ > 0);
    if (claims_to_lose_ > 0) {
      --claims_to_lose_;
    } else {
      rest.entries.push_back(std::move(settled));
    }
  }
  Batch<void> settled;
  if (!rest.entries.empty()) {
    auto answer = target().call(std::move(rest), options);
    if (!answer.ok()) return done(answer.error());
    settled = std::move(answer).value();
  }
  Batch<void> answers;
  std::size_t next = 0;
  for (const bool gone : lost) {
    answers.push_back(gone ? Result<void>(lock_lost("this claim was made to get lost"))
                           : std::move(settled[next++]));
  }
  done(std::move(answers));
}

}  // namespace perdure::testing
