#include "cli/demo/stage.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <perdure/errors.h>
#include <perdure/open.h>

#include "base/clock.h"

namespace perdure::demo {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 30s;
constexpr auto kLook = 100ms;

bool is_of(const Report& report,
           Report::Kind kind,
           const std::string& order,
           std::string_view step) {
  return report.kind == kind && report.order == order && report.step == step;
}

}  // namespace

void expect(bool seen, const std::string& otherwise) {
  if (!seen) throw std::runtime_error(otherwise);
}

Stage::Stage(Narrator& narrator,
             const Interrupts& interrupts,
             std::string url,
             std::filesystem::path log)
    : narrator_(narrator),
      interrupts_(interrupts),
      url_(std::move(url)),
      log_(std::move(log)),
      client_(open(url_)) {}

void Stage::start_order(const Order& order) {
  try {
    client_.start(fulfil, run_of(order), order, {.queue = kQueue, .on_reuse = OnReuse::kReject});
  } catch (const Conflict&) {
    throw std::runtime_error(run_of(order) + " is in this store already: name a file that is new");
  }
  narrator_.event("store", run_of(order) + " is started, " + money(order.cents) + " to pay");
}

void Stage::start_worker() {
  worker_ = std::make_unique<WorkerProcess>(url_, log_, interrupts_);
  name_ = "worker " + std::to_string(worker_->pid());
  while (next().report.kind != Report::Kind::kReady) {
  }
}

Narrator::Clock::time_point Stage::kill_worker(const std::string& order, std::string_view step) {
  const auto now = steady_now();
  worker_->kill();
  while (auto report = worker_->last_words()) keep(std::move(*report));
  expect(heard(Report::Kind::kDone, order, step).empty(),
         "the kill came too late, when " + std::string(step) + " was done: try again");
  const Report last = heard(Report::Kind::kProgress, order, step).back().report;
  narrator_.alarm("kill -9 " + std::to_string(worker_->pid()),
                  "in the midst of " + std::string(step) + ", " + std::to_string(last.done) +
                      " of " + std::to_string(last.total) + " done");
  worker_.reset();
  return now;
}

void Stage::stop_worker() {
  worker_->stop();
  worker_.reset();
}

Heard Stage::next() {
  const Heard& heard = keep(worker_->next());
  narrate(heard);
  return heard;
}

const Heard& Stage::keep(Report report) {
  return all_.emplace_back(Heard{std::move(report), worker_->pid(), steady_now()});
}

void Stage::narrate(const Heard& heard) {
  const Report& report = heard.report;
  switch (report.kind) {
    case Report::Kind::kReady:
      narrator_.event(name_, "is up");
      break;
    case Report::Kind::kProgress:
      narrator_.bar(name_, report.step, report.done, report.total);
      break;
    case Report::Kind::kDone:
      narrator_.event(name_, report.step + ": " + report.text);
      break;
    case Report::Kind::kBegan:    // what the first of them means is known when it is done,
    case Report::Kind::kStopped:  // what the others mean only to the act that waits for them
      break;
  }
}

Heard Stage::until(Report::Kind kind, const std::string& order, std::string_view step, int done) {
  for (;;) {
    Heard heard = next();
    if (is_of(heard.report, kind, order, step) && heard.report.done >= done) return heard;
  }
}

RunStatus Stage::end_of(const std::string& order) {
  const auto deadline = steady_now() + kPatience;
  for (;;) {
    interrupts_.check();
    try {
      return client_.wait(order, kLook);
    } catch (const Unavailable&) {
      if (steady_now() >= deadline) throw;
    }
  }
}

std::vector<Heard> Stage::heard(Report::Kind kind,
                                const std::string& order,
                                std::string_view step) const {
  std::vector<Heard> found;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(found), [&](const Heard& each) {
    return is_of(each.report, kind, order, step);
  });
  return found;
}

}  // namespace perdure::demo
