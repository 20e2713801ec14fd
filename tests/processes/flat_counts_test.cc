#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/processes/world.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PERDURE_MEMORY_IS_REAL false
#else
#define PERDURE_MEMORY_IS_REAL true
#endif

namespace perdure::test::flat_counts_test {
namespace {

using namespace std::chrono_literals;

constexpr int kClients = 8;

struct Counts {
  std::int64_t threads = 0;
  std::int64_t resident_kb = 0;
  std::int64_t descriptors = 0;
};

std::int64_t field(pid_t pid, const std::string& name) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1));
  }
  return -1;
}

Counts counts_of(pid_t pid) {
  const std::filesystem::directory_iterator descriptors("/proc/" + std::to_string(pid) + "/fd");
  return {field(pid, "Threads"),
          field(pid, "VmRSS"),
          std::distance(begin(descriptors), end(descriptors))};
}

/// Starts runs from many threads, so that starts share commits, and waits for them.
void run(const World& world, int from, int to) {
  std::vector<std::jthread> clients;
  for (int client = 0; client < kClients; ++client) {
    clients.emplace_back([&world, from, to, client] {
      constexpr int kAtOnce = 50;
      for (int first = from + client * kAtOnce; first < to; first += kClients * kAtOnce) {
        const int end = std::min(first + kAtOnce, to);
        for (int i = first; i < end; ++i) {
          (void)world.client().within(5min).start(quick, "q" + std::to_string(i), i);
        }
        for (int i = first; i < end; ++i) {
          EXPECT_EQ(world.client().find<int>("q" + std::to_string(i)).wait(5min), i + 1);
        }
      }
    });
  }
}

struct Span {
  int warm_up;
  int runs;
  std::int64_t more_kb;  ///< so much more may be resident behind the last than behind the warm-up
};

void expect_flat(const Span& span) {
  const int runs = span.runs;
  const int warm_up = span.warm_up;
  World world;
  auto worker = world.spawn();
  run(world, 0, warm_up);
  const Counts before = counts_of(worker->pid());
  run(world, warm_up, runs);
  const Counts after = counts_of(worker->pid());
  std::cout << "after " << warm_up << " runs: threads=" << before.threads
            << " resident_kb=" << before.resident_kb << " descriptors=" << before.descriptors
            << "; after " << runs << " runs: threads=" << after.threads
            << " resident_kb=" << after.resident_kb << " descriptors=" << after.descriptors
            << std::endl;
  // Handler threads come and go, at most as many as calls run at a time; readers of the store too.
  EXPECT_LE(after.threads, before.threads + 16);
  EXPECT_LE(after.descriptors, before.descriptors + 16);
  if (PERDURE_MEMORY_IS_REAL) {
    EXPECT_LE(after.resident_kb, before.resident_kb + span.more_kb);
  }
  EXPECT_EQ(end_quietly(*worker), "returned 0");
}

TEST(FlatCounts, OverFiveThousandRuns) {
  // Memory tells nothing under a sanitizer, and everything takes longer.
  // The page cache of SQLite (64 MiB) fills while the file grows.
  constexpr std::int64_t kWithTheCache = 80 << 10;
  if (PERDURE_MEMORY_IS_REAL) {
    expect_flat({.warm_up = 1'000, .runs = 5'000, .more_kb = kWithTheCache});
  } else {
    expect_flat({.warm_up = 300, .runs = 1'000, .more_kb = kWithTheCache});
  }
}

TEST(FlatCountsSoak, OverAHundredThousandRuns) {
  // The cache is full behind the warm-up.
  expect_flat({.warm_up = 20'000, .runs = 100'000, .more_kb = 8 << 10});
}

}  // namespace
}  // namespace perdure::test::flat_counts_test
