#pragma once

#include <cstddef>
#include <memory>

namespace perdure::replay {

/// A part that is made when it is first needed and takes one pointer until then: what most runs do
/// not need, or only while a turn runs. Not for several threads.
template <class T>
class OnDemand {
 public:
  /// The part, made now if it was not there.
  T& get() {
    if (!part_) part_ = std::make_unique<T>();
    return *part_;
  }
  /// The part, or an empty one that all share. Makes nothing.
  const T& peek() const {
    static const T kEmpty{};
    return part_ ? *part_ : kEmpty;
  }
  /// The part, or null. Makes nothing.
  T* find() { return part_.get(); }
  /// Gives its memory back.
  void reset() { part_.reset(); }
  /// Memory of the part itself.
  std::size_t bytes() const { return part_ ? sizeof(T) : 0; }

 private:
  std::unique_ptr<T> part_;
};

}  // namespace perdure::replay
