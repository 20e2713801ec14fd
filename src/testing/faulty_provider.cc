#include "testing/faulty_provider.h"

#include <optional>
#include <utility>
#include <vector>

namespace perdure::testing {

void FaultyProvider::fail_next_commits(int commits, CommitFault fault) {
  for (int i = 0; i < commits; ++i) faults_.push_back(fault);
}

void FaultyProvider::fail_commit(int after, CommitFault fault) {
  faults_.insert(faults_.end(), static_cast<std::size_t>(after), std::nullopt);
  faults_.emplace_back(fault);
}

std::optional<CommitFault> FaultyProvider::take_fault(FaultyCall call) {
  const auto planned = calls_.find(call);
  if (planned == calls_.end() || planned->second.after-- > 0) return std::nullopt;
  const CommitFault fault = planned->second.fault;
  calls_.erase(planned);
  return fault;
}

void FaultyProvider::note_queues(const TurnCommit& commit) {
  for (const NewWork& work : commit.work) queues_.insert(work.queue);
  for (const NewChild& child : commit.children) queues_.insert(child.queue);
}

void FaultyProvider::submit(StartOrchestration request,
                            Completion<OrchestrationStarted> done,
                            CallOptions options) {
  // Not before the store has taken it: a queue that has no valid name is nobody's to serve.
  auto note = [this, queue = request.queue, told = std::move(done)](
                  Result<OrchestrationStarted> answer) mutable {
    if (answer.ok()) queues_.insert(std::move(queue));
    told(std::move(answer));
  };
  target().submit(std::move(request), std::move(note), options);
}

void FaultyProvider::submit(AckOrchestrationItems request,
                            Completion<Batch<TurnCommitted>> done,
                            CallOptions options) {
  for (const TurnCommit& commit : request.entries) note_queues(commit);
  if (faults_.empty()) {
    auto answer = target().call(std::move(request), options);
    if (answer.ok()) {
      for (const auto& entry : *answer) commits_made_ += entry.ok() ? 1U : 0U;
    }
    return done(std::move(answer));
  }
  Batch<TurnCommitted> answers;
  for (TurnCommit& commit : request.entries) {
    std::optional<CommitFault> fault;
    if (!faults_.empty()) {
      fault = faults_.front();
      faults_.pop_front();
    }
    answers.push_back(fault ? disturbed(std::move(commit), *fault, options)
                            : committed(std::move(commit), options));
    commits_made_ += answers.back().ok() ? 1U : 0U;
  }
  done(std::move(answers));
}

Result<TurnCommitted> FaultyProvider::committed(TurnCommit commit, CallOptions options) {
  AckOrchestrationItems one;
  one.entries.push_back(std::move(commit));
  auto answer = target().call(std::move(one), options);
  if (!answer.ok()) return answer.error();
  return std::move(answer->front());
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
      const auto answer = committed(std::move(commit), options);
      if (!answer.ok()) return answer.error();
      return commit_unknown("the answer of this commit was made to get lost");
    }
  }
  return unavailable("an unknown fault");
}

void FaultyProvider::submit(AckWorkItems request,
                            Completion<Batch<void>> done,
                            CallOptions options) {
  if (const auto fault = take_fault(FaultyCall::kOutcomes)) {
    return disturb_outcomes(*fault, std::move(request), done, options);
  }
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

void FaultyProvider::disturb_outcomes(CommitFault fault,
                                      AckWorkItems request,
                                      const Completion<Batch<void>>& done,
                                      CallOptions options) {
  switch (fault) {
    case CommitFault::kRefused:
    case CommitFault::kLockLost:
      return done(
          Batch<void>(request.entries.size(), lock_lost("these claims were made to lapse")));
    case CommitFault::kUnavailable:
      return done(unavailable("these outcomes were made to fail"));
    case CommitFault::kAnswerLost: {
      const auto answer = target().call(std::move(request), options);
      if (!answer.ok()) return done(answer.error());
      break;
    }
    case CommitFault::kUnknown:
      break;
  }
  done(commit_unknown("the answer for these outcomes was made to get lost"));
}

template <class Request, class Answer>
void FaultyProvider::fetch(FaultyCall call,
                           Request request,
                           Completion<Answer> done,
                           CallOptions options) {
  const auto planned = calls_.find(call);
  if (planned == calls_.end()) {
    return target().submit(std::move(request), std::move(done), options);
  }
  if (planned->second.fault != CommitFault::kAnswerLost) {
    const auto fault = take_fault(call);
    if (!fault) return target().submit(std::move(request), std::move(done), options);
    return done(*fault == CommitFault::kUnknown ? commit_unknown("this fetch was made to get lost")
                                                : unavailable("this fetch was made to fail"));
  }
  auto answer = target().call(std::move(request), options);
  if (answer.ok() && !answer->items.empty() && take_fault(call)) {
    return done(commit_unknown("the answer of this fetch was made to get lost"));
  }
  done(std::move(answer));
}

void FaultyProvider::submit(FetchOrchestrationItems request,
                            Completion<FetchedOrchestrationItems> done,
                            CallOptions options) {
  fetch(FaultyCall::kFetchTurns, std::move(request), std::move(done), options);
}

void FaultyProvider::submit(FetchWorkItems request,
                            Completion<FetchedWorkItems> done,
                            CallOptions options) {
  fetch(FaultyCall::kFetchWork, std::move(request), std::move(done), options);
}

}  // namespace perdure::testing
