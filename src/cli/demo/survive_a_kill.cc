#include "cli/demo/acts.h"
#include "cli/demo/stored_steps.h"

namespace perdure::demo {

namespace {

void check_once(const StoredSteps& stored, std::string_view step) {
  const StoredSteps::Step found = stored.of(step);
  expect(found.scheduled == 1 && found.completed == 1,
         "the history has " + std::string(step) + " scheduled " + std::to_string(found.scheduled) +
             " times and completed " + std::to_string(found.completed) + " times, not once");
}

/// The end of the order, when all is as it was shown.
void check_completed(const Stage& stage, const std::string& order, const RunStatus& end) {
  expect(end.status == ExecutionStatus::kCompleted, order + " did not complete");
  const StoredSteps stored(stage.client(), order);
  for (const auto step : {charge.name(), pack.name(), ship.name()}) check_once(stored, step);
  expect(stored.of(refund.name()).scheduled == 0, order + " was refunded");
  const auto charged = stage.heard(Report::Kind::kBegan, order, charge.name());
  expect(charged.size() == 1, "charge ran " + std::to_string(charged.size()) + " times, not once");
  const auto packed = stage.heard(Report::Kind::kBegan, order, pack.name());
  expect(packed.size() == 2 && packed[0].worker != packed[1].worker,
         "pack was not taken over: it began " + std::to_string(packed.size()) + " times");
}

void show_what_is_stored(Stage& stage, const std::string& order) {
  const RunStatus orphaned = stage.client().status(order);
  const StoredSteps stored(stage.client(), order);
  expect(orphaned.status == ExecutionStatus::kRunning, order + " died with its worker");
  expect(stored.of(charge.name()).completed == 1 && stored.of(pack.name()).completed == 0,
         "after the kill the history says: " + stored.to_string());
  stage.narrator().event("store", order + " is still running: " + stored.to_string());
}

}  // namespace

std::string survive_a_kill(Stage& stage) {
  Narrator& narrator = stage.narrator();
  const Order order{"1001", 4990};
  const std::string id = run_of(order);
  narrator.title("1. A worker is killed in the midst of a step");
  stage.start_order(order);
  stage.start_worker();
  stage.until(Report::Kind::kProgress, id, pack.name(), kPartlyPacked);
  const std::string first = stage.worker();
  const auto killed = stage.kill_worker(id, pack.name());
  show_what_is_stored(stage, id);

  stage.start_worker();
  const Heard again = stage.until(Report::Kind::kBegan, id, pack.name());
  const std::string delay = milliseconds(again.at - killed);
  narrator.success(stage.worker(), "takes pack over " + delay + " after the kill");
  stage.until(Report::Kind::kDone, id, ship.name());
  const RunStatus end = stage.end_of(id);
  check_completed(stage, id, end);
  narrator.success("store",
                   id + " completed: " + end.output.get<std::string>() + ", charge ran once");
  return id + "  completed and charged once, although " + first + " was killed;\n" +
         "              the step it left was taken over " + delay + " after the kill";
}

}  // namespace perdure::demo
