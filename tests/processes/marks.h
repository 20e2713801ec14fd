#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace perdure::test {

/// What a worker shall do to itself.
enum class Order : std::int32_t {
  kNothing,
  kStopBeforeWrite,  ///< stop (SIGSTOP) when its store is about to begin a write
  kFailBegins,       ///< no write begins: Unavailable
  kFailCommits,      ///< writes fail before their commit
  kLoseAnswers,      ///< commits happen and are not answered
  // From its birth on: it obeys no other.
  kDieInCascade,      ///< die in the commit that carries on a cascade
  kDieBehindCascade,  ///< die when a part of a cascade is committed and more is left
};

/// How one worker stands, and what it is told. A kill leaves what was true at that moment.
struct WorkerMarks {
  std::atomic<std::int32_t> handlers{0};  ///< in flight
  std::atomic<std::int32_t> turns{0};     ///< threads in the code of orchestrations
  std::atomic<std::int64_t> begun{0};     ///< attempts of handlers, all lives together
  std::atomic<std::int64_t> quota{0};     ///< attempts of this life that may end; later ones hang
  std::atomic<std::int32_t> hold{0};      ///< 1: handlers of `held` wait until it is 0
  std::atomic<Order> order{Order::kNothing};
  std::atomic<Order> obeyed{Order::kNothing};  ///< the order that holds now
  std::atomic<std::int32_t> refused{0};        ///< groups of writes that failed by that order
};

/// Marks of several workers in a file that every process maps, so that no kill takes them.
class Marks {
 public:
  static constexpr std::size_t kWorkers = 4;

  /// Makes the file when it is missing.
  explicit Marks(const std::string& path);
  Marks(const Marks&) = delete;
  Marks& operator=(const Marks&) = delete;
  ~Marks();

  WorkerMarks& of(std::size_t worker) { return all_->at(worker); }

 private:
  using All = std::array<WorkerMarks, kWorkers>;
  All* all_;
};

static_assert(std::atomic<Order>::is_always_lock_free &&
              std::atomic<std::int64_t>::is_always_lock_free);

/// Counts up while it lives.
class Marked {
 public:
  explicit Marked(std::atomic<std::int32_t>& count) : count_(count) { ++count_; }
  Marked(const Marked&) = delete;
  Marked& operator=(const Marked&) = delete;
  ~Marked() { --count_; }

 private:
  std::atomic<std::int32_t>& count_;
};

}  // namespace perdure::test
