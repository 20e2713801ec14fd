#include "cli/bench/holder.h"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <thread>

#include <perdure/perdure.h>

#include "cli/bench/held_runs.h"
#include "cli/bench/patience.h"
#include "cli/bench/second_process.h"
#include "cli/bench/starts.h"

namespace perdure::bench {

namespace {

std::string wait_for_all(Starts& starts, std::int64_t handlers) {
  if (starts.wait_for(handlers, kPatience)) return "held";
  return "of " + std::to_string(handlers) + " handlers only " + std::to_string(starts.begun()) +
         " have begun: does the system allow so many threads?";
}

}  // namespace

void hold(const std::string& url, std::int64_t handlers) {
  end_with_caller();
  try {
    RuntimeOptions options;
    options.max_concurrent_activities = static_cast<int>(handlers);
    auto starts = std::make_shared<Starts>(handlers);
    const Runtime runtime(open(url),
                          held_registry([starts](ActivityContext& ctx, std::int64_t number) {
                            starts->note(number);
                            ctx.wait_until_canceled();
                            ctx.throw_if_canceled();
                            return number;
                          }),
                          options);
    std::cout << wait_for_all(*starts, handlers) << std::endl;
    for (;;) std::this_thread::sleep_for(kPatience);
  } catch (const std::exception& error) {
    std::cout << error.what() << std::endl;
    std::_Exit(EXIT_FAILURE);
  }
}

}  // namespace perdure::bench
