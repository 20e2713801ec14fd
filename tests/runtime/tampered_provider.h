#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "provider/forwarding_provider.h"

namespace perdure::test {

/// A store in which the next calls go wrong as a test says. What it is asked is kept.
class TamperedProvider final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  using ForwardingProvider::submit;

  // Each is used once and is gone then.
  std::optional<Error> ack_error;       ///< of the first entry of the next ack
  std::optional<Error> ack_call_error;  ///< of the next ack as a whole
  bool commit_all_the_same = false;     ///< the error is a lie: the commit takes place
  std::optional<Error> fetch_error;
  std::optional<Error> history_error;       ///< of the first query
  std::optional<Error> history_call_error;  ///< of the call
  std::optional<Error> cancel_error;
  std::optional<Error> work_ack_error;
  std::function<void(FetchedOrchestrationItems&)> on_fetched;
  std::vector<std::string> further_names;  ///< claimed although nobody registered them

  std::vector<AbandonedOrchestrationItem> abandoned;
  std::vector<TurnCommit> commits;
  std::vector<SettledWork> settled;
  std::size_t history_reads = 0;

  void submit(FetchOrchestrationItems request,
              Completion<FetchedOrchestrationItems> done,
              CallOptions options) override {
    if (auto error = take(fetch_error)) return done(std::move(*error));
    auto answer = target().call(std::move(request), options);
    if (answer.ok() && on_fetched) std::exchange(on_fetched, nullptr)(*answer);
    done(std::move(answer));
  }

  void submit(AckOrchestrationItems request,
              Completion<Batch<TurnCommitted>> done,
              CallOptions options) override {
    commits.insert(commits.end(), request.entries.begin(), request.entries.end());
    const bool lies = std::exchange(commit_all_the_same, false);
    if (auto error = take(ack_call_error)) {
      if (lies) {
        EXPECT_TRUE(target().call(std::move(request), options).ok());
      }
      return done(std::move(*error));
    }
    auto error = take(ack_error);
    if (error && !lies) request.entries.erase(request.entries.begin());
    auto answer = target().call(std::move(request), options);
    if (!error) return done(std::move(answer));
    Batch<TurnCommitted> entries = std::move(answer).value();
    if (lies) {
      entries.front() = std::move(*error);
    } else {
      entries.insert(entries.begin(), std::move(*error));
    }
    done(std::move(entries));
  }

  void submit(AbandonOrchestrationItems request,
              Completion<Batch<void>> done,
              CallOptions options) override {
    abandoned.insert(abandoned.end(), request.entries.begin(), request.entries.end());
    target().submit(std::move(request), std::move(done), options);
  }

  void submit(CancelOrchestration request,
              Completion<CancelAnswer> done,
              CallOptions options) override {
    if (auto error = take(cancel_error)) return done(std::move(*error));
    target().submit(std::move(request), std::move(done), options);
  }

  void submit(FetchWorkItems request,
              Completion<FetchedWorkItems> done,
              CallOptions options) override {
    request.names.insert(request.names.end(), further_names.begin(), further_names.end());
    target().submit(std::move(request), std::move(done), options);
  }

  void submit(AckWorkItems request, Completion<Batch<void>> done, CallOptions options) override {
    settled.insert(settled.end(), request.entries.begin(), request.entries.end());
    if (auto error = take(work_ack_error)) return done(std::move(*error));
    target().submit(std::move(request), std::move(done), options);
  }

  Result<Batch<HistoryPage>> read_history(const std::vector<HistoryQuery>& queries) override {
    ++history_reads;
    if (auto error = take(history_call_error)) return std::move(*error);
    auto answer = target().read_history(queries);
    if (auto error = take(history_error)) answer->front() = std::move(*error);
    return answer;
  }

 private:
  static std::optional<Error> take(std::optional<Error>& slot) {
    return std::exchange(slot, std::nullopt);
  }
};

}  // namespace perdure::test
