#include "cli/bench/soak_plan.h"

#include <algorithm>

namespace perdure::bench {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr microseconds kStartTakes = milliseconds(1);
constexpr microseconds kTreeLives = milliseconds(80);
constexpr int kMostMembersCanceled = 3;
constexpr double kRootsCanceled = 0.6;
constexpr double kDeleted = 0.15;

microseconds some_of(microseconds time, Random& random) {
  return microseconds(static_cast<std::int64_t>(random.unit() * static_cast<double>(time.count())));
}

}  // namespace

std::vector<SoakDeed> plan_batch(std::size_t trees, Random& random) {
  std::vector<SoakDeed> plan;
  const microseconds starts_take = static_cast<std::int64_t>(trees) * kStartTakes;
  for (std::size_t tree = 0; tree < trees; ++tree) {
    const microseconds start = some_of(starts_take, random);
    const auto add = [&](SoakDeed::Kind kind, microseconds at) {
      plan.push_back({kind, tree, at, random.next()});
    };
    const auto add_later = [&](SoakDeed::Kind kind) {
      add(kind, start + some_of(kTreeLives, random));
    };
    add(SoakDeed::Kind::kStart, start);
    const int members = 1 + static_cast<int>(random.unit() * kMostMembersCanceled);
    for (int i = 0; i < members; ++i) add_later(SoakDeed::Kind::kCancelMember);
    if (random.unit() < kRootsCanceled) add_later(SoakDeed::Kind::kCancelRoot);
    if (random.unit() < kDeleted) add_later(SoakDeed::Kind::kDelete);
  }
  std::stable_sort(
      plan.begin(), plan.end(), [](const SoakDeed& a, const SoakDeed& b) { return a.at < b.at; });
  return plan;
}

}  // namespace perdure::bench
