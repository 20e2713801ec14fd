#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

namespace perdure::conformance {

/// Words that the suites about requests to runs share.
class RequestSteps : public Conformance {
 protected:
  using Kinds = std::vector<MessageKind>;
  using Texts = std::vector<std::string>;

  static MakeRequest update(const std::string& id, const std::string& request) {
    MakeRequest made;
    made.id = id;
    made.request = request;
    made.name = "add";
    made.payload = "{\"of\":\"" + request + "\"}";
    return made;
  }
  static MakeRequest query(const std::string& id, const std::string& request) {
    MakeRequest made = update(id, request);
    made.kind = RequestKind::kQuery;
    made.name = "total";
    return made;
  }

  RequestState make(MakeRequest request) {
    auto answer = store().make_request(std::move(request));
    if (!answer.ok()) throw std::runtime_error("make_request: " + answer.error().message);
    return std::move(answer).value();
  }

  Result<RequestState> look(const std::string& id, RequestKind kind, const std::string& request) {
    return store().get_request({info(id).key, kind, request});
  }
  RequestState state(const std::string& id, RequestKind kind, const std::string& request) {
    auto found = look(id, kind, request);
    if (!found.ok()) throw std::runtime_error("get_request: " + found.error().message);
    return std::move(found).value();
  }
  RequestStage update_stage(const std::string& id, const std::string& request) {
    return state(id, RequestKind::kUpdate, request).stage;
  }
  RequestStage query_stage(const std::string& id, const std::string& request) {
    return state(id, RequestKind::kQuery, request).stage;
  }

  static Reply accepted(const std::string& request) {
    return {.kind = RequestKind::kUpdate,
            .request = request,
            .stage = RequestStage::kAccepted,
            .payload = {},
            .failure = {}};
  }
  static Reply answered(RequestKind kind, const std::string& request, const std::string& payload) {
    return {.kind = kind,
            .request = request,
            .stage = RequestStage::kAnswered,
            .payload = payload,
            .failure = {}};
  }
  static Reply not_answered(RequestKind kind, const std::string& request, RequestStage stage) {
    return {.kind = kind,
            .request = request,
            .stage = stage,
            .payload = {},
            .failure = {.type = "no", .message = "not so", .retryable = false, .details = "7"}};
  }

  /// Commits a turn of an item that says this and nothing else.
  void reply(const OrchestrationItem& item, std::vector<Reply> replies) {
    TurnCommit decided = turn(item);
    decided.replies = std::move(replies);
    commit(std::move(decided));
  }

  /// A run with two updates: one that a turn took and one that waits.
  void start_with_updates(const std::string& id) {
    start_and_run(id);
    make(update(id, "taken"));
    reply(lock(id), {accepted("taken")});
    make(update(id, "waiting"));
  }

  static Texts texts(const OrchestrationItem& item) {
    Texts found;
    for (const Message& message : item.messages) found.push_back(message.text);
    return found;
  }

  Interest run_of(const std::string& id) {
    Interest interest;
    interest.run = info(id).key;
    interest.after = store().change_mark();
    interest.bound = 60s;
    return interest;
  }
  Interest instances_of(const std::string& queue) {
    Interest interest;
    interest.orchestration_queues = {queue};
    interest.after = store().change_mark();
    interest.bound = 60s;
    return interest;
  }
  Wake::Reason wait(const Interest& interest) { return store().wait_for_change(interest).reason; }

  void sweep() {
    const auto swept = store().sweep_work_items();
    if (!swept.ok()) throw std::runtime_error("sweep: " + swept.error().message);
  }
};

}  // namespace perdure::conformance
