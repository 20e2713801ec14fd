#include "base/clock.h"
#include "cli/demo/acts.h"
#include "cli/demo/stored_steps.h"

namespace perdure::demo {

namespace {

constexpr const char* kReason = "the customer changed their mind";

void check_canceled(const Stage& stage, const std::string& order, const RunStatus& end) {
  expect(end.status == ExecutionStatus::kCanceled, order + " was not canceled");
  expect(end.cancel_reason == kReason, order + " was canceled for: " + end.cancel_reason);
  const StoredSteps stored(stage.client(), order);
  expect(stored.of(charge.name()).completed == 1, order + " was not charged");
  expect(stored.of(refund.name()).completed == 1, order + " was not refunded once");
  expect(stored.of(pack.name()).completed == 0, order + " was packed after all");
  expect(stored.of(ship.name()).scheduled == 0, order + " was shipped after all");
  expect(stage.heard(Report::Kind::kDone, order, pack.name()).empty(), "pack was not stopped");
}

}  // namespace

std::string cancel_an_order(Stage& stage) {
  Narrator& narrator = stage.narrator();
  const Order order{"1002", 12900};
  const std::string id = run_of(order);
  narrator.title("2. An order is canceled while work for it runs");
  stage.start_order(order);
  stage.until(Report::Kind::kProgress, id, pack.name(), kPartlyPacked);

  const auto called = steady_now();
  const CancelResult answer = stage.client().cancel(id, kReason);
  const auto stored = steady_now();
  expect(answer.changed, "the cancel of " + id + " changed nothing");
  narrator.alarm("cancel",
                 id + ": \"" + kReason + "\", stored in " + milliseconds(stored - called));

  const Heard stopped = stage.until(Report::Kind::kStopped, id, pack.name());
  const std::string delay = milliseconds(stopped.at - called);
  narrator.success(stage.worker(),
                   "pack stops " + delay + " after the call, with " +
                       std::to_string(stopped.report.done) + " of " +
                       std::to_string(stopped.report.total) + " done");
  stage.until(Report::Kind::kDone, id, refund.name());
  const RunStatus end = stage.end_of(id);
  check_canceled(stage, id, end);
  narrator.success("store", id + " canceled: " + end.cancel_reason);
  return id + "  canceled: its running step stopped " + delay + " after the call;\n" +
         "              " + money(order.cents) + " given back, nothing shipped";
}

}  // namespace perdure::demo
