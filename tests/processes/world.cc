#include "tests/processes/world.h"

#include <csignal>
#include <limits>
#include <stdexcept>
#include <thread>

#include "base/clock.h"

namespace perdure::test {

World::World(int max_attempts)
    : max_attempts_(max_attempts), store_(open("sqlite:" + file())), client_(store_) {}

std::unique_ptr<Child> World::spawn_only(std::size_t number, Order order) {
  WorkerMarks& mine = marks(number);
  mine.handlers = 0;
  mine.turns = 0;
  mine.quota = std::numeric_limits<std::int64_t>::max();
  mine.order = order;
  mine.obeyed = Order::kNothing;
  mine.refused = 0;
  return std::make_unique<Child>(PERDURE_PROCESS_WORKER,
                                 std::vector{"sqlite:" + file(),
                                             dir_.file("marks"),
                                             std::to_string(number),
                                             std::to_string(max_attempts_)});
}

std::unique_ptr<Child> World::spawn(std::size_t number) {
  auto worker = spawn_only(number);
  const std::string line = worker->line();
  if (line != "ready") throw std::runtime_error("the worker said '" + line + "'");
  return worker;
}

void World::order(std::size_t number, Order order) {
  marks(number).order = order;
  if (!eventually([&] { return marks(number).obeyed == order; })) {
    throw std::runtime_error("a worker does not obey");
  }
}

bool eventually(const std::function<bool()>& done, std::chrono::seconds bound) {
  const auto deadline = steady_now() + bound;
  while (!done()) {
    if (steady_now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

std::string end_quietly(Child& worker) {
  worker.send(SIGTERM);
  return worker.end();
}

}  // namespace perdure::test
