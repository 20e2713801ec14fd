#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/sqlite/crash/world.h"

namespace perdure::sqlite::crash {

/// Several callers, each with one request of its own kind, whose writes fall into one group: a
/// cancel, a start, an event, a turn and a result, written in this order.
class Callers {
 public:
  /// Brings a new store, driven by calls, into a state in which each of them has something to
  /// write.
  explicit Callers(World& world);

  static std::size_t count() { return 5; }

  /// Called with the number of a caller when it gets its answer.
  using Answered = std::function<void(std::size_t, const Status&)>;

  /// All of them submit, and then the group is written.
  void call_together(Provider& store, const Answered& answered) const;
  /// One is answered before the next one submits.
  void call(std::size_t caller, Provider& store, const Answered& answered) const;

 private:
  using Submit = std::function<void(Provider&, std::function<void(const Status&)>)>;

  template <class Request>
  void add(Request request);

  std::vector<Submit> submits_;
};

/// Where answers are noted that a kill shall not take along: a file with one line per answer.
class AnswerFile {
 public:
  explicit AnswerFile(const std::string& store) : path_(store + ".answers") {}

  void add(std::size_t caller) const;
  std::size_t count() const;

 private:
  std::string path_;
};

}  // namespace perdure::sqlite::crash
