#pragma once

#include <unistd.h>
#include <utility>

namespace perdure::runtime {

/// Owns an open descriptor; closed with it. Negative: none. Movable. One thread.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  void reset() {
    if (const int number = std::exchange(number_, -1); number >= 0) ::close(number);
  }

 private:
  int number_ = -1;
};

}  // namespace perdure::runtime
