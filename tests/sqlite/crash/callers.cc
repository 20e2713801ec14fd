#include "tests/sqlite/crash/callers.h"

#include <fstream>

namespace perdure::sqlite::crash {

template <class Request>
void Callers::add(Request request) {
  submits_.push_back([request = std::move(request)](Provider& store, auto done) {
    store.submit(request,
                 [done = std::move(done)](Result<typename Request::Answer> answer) {
                   done(status_of(answer));
                 },
                 {});
  });
}

Callers::Callers(World& world) {
  world.start_with_work("worked", {{}});
  const auto claimed = world.claim(1);
  world.start_waiting("called");
  world.start_waiting("canceled");
  world.start("turned");
  Turn turn(world.lock("turned"));
  turn.work();
  turn.timer(world.now() + 1h);

  CancelOrchestration cancel;
  cancel.id = "canceled";
  cancel.request_id = "cancel";
  add(cancel);
  StartOrchestration start = start_request("started");
  start.request_id = "start";
  add(std::move(start));
  RaiseEvent raise;
  raise.id = "called";
  raise.name = "go";
  raise.payload = "1";
  raise.request_id = "raise";
  add(std::move(raise));
  AckOrchestrationItems turns;
  turns.entries.push_back(turn.commit);
  add(std::move(turns));
  AckWorkItems results;
  results.entries.push_back({.id = claimed[0].id, .lock = claimed[0].lock});
  results.entries.back().outcome.result = "\"done\"";
  add(std::move(results));
}

void Callers::call_together(Provider& store, const Answered& answered) const {
  for (std::size_t caller = 0; caller < submits_.size(); ++caller) {
    submits_[caller](store, [caller, answered](const Status& answer) { answered(caller, answer); });
  }
  while (store.poll_once()) {
  }
}

void Callers::call(std::size_t caller, Provider& store, const Answered& answered) const {
  submits_.at(caller)(store,
                      [caller, answered](const Status& answer) { answered(caller, answer); });
  while (store.poll_once()) {
  }
}

void AnswerFile::add(std::size_t caller) const {
  std::ofstream(path_, std::ios::app) << caller << std::endl;
}

std::size_t AnswerFile::count() const {
  std::ifstream file(path_);
  std::size_t lines = 0;
  for (std::string line; std::getline(file, line);) ++lines;
  return lines;
}

}  // namespace perdure::sqlite::crash
