#pragma once

#include <array>
#include <csignal>
#include <exception>

namespace perdure::demo {

/// Somebody wants the program to end.
class Interrupted : public std::exception {
 public:
  explicit Interrupted(int signal) : signal_(signal) {}
  const char* what() const noexcept override { return "interrupted"; }
  int signal() const { return signal_; }

 private:
  int signal_;
};

/// Holds SIGINT, SIGTERM, SIGHUP and SIGQUIT back as long as it lives, so that whoever waits hears
/// of them through a descriptor and can clean up; ignores SIGPIPE. Those that came and were not
/// taken are dropped at the end. Made before any thread, on the thread that waits.
class Interrupts {
 public:
  Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts();

  /// Readable when one has come.
  int descriptor() const { return descriptor_; }
  /// Throws Interrupted when one has come.
  void check() const;

 private:
  /// The signal that has come; 0: none.
  int take() const;

  sigset_t former_mask_{};
  struct sigaction former_pipe_ {};
  int descriptor_ = -1;
};

}  // namespace perdure::demo
