#pragma once

#include <string>

namespace perdure::bench {

/// A line on the terminal that says what is being done, written over each time; nothing when
/// standard error is no terminal. Removed when it goes. Threading: one thread.
class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void show(const std::string& doing);

 private:
  const bool terminal_;
};

}  // namespace perdure::bench
