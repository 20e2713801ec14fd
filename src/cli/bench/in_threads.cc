#include "cli/bench/in_threads.h"

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "base/guarded.h"

namespace perdure::bench {

void in_threads(int threads,
                std::int64_t begin,
                std::int64_t end,
                const std::function<void(std::int64_t)>& each) {
  std::atomic<std::int64_t> next{begin};
  Guarded<std::exception_ptr> first;
  const auto work = [&] {
    try {
      for (std::int64_t i = next++; i < end; i = next++) each(i);
    } catch (...) {
      next = end;
      first.with([](std::exception_ptr& error) {
        if (!error) error = std::current_exception();
      });
    }
  };
  {
    std::vector<std::jthread> crew;
    crew.reserve(static_cast<std::size_t>(threads));
    for (int i = 0; i < threads; ++i) crew.emplace_back(work);
  }
  if (const auto error = first.with([](std::exception_ptr& kept) { return kept; })) {
    std::rethrow_exception(error);
  }
}

}  // namespace perdure::bench
