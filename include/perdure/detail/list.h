#pragma once

namespace perdure::detail {

/// A link of a ring that its owner is a member of: joins and leaves in constant time, leaves by
/// itself when destroyed. A ring has one head that is not a member.
class ListHook {
 public:
  ListHook() = default;
  ListHook(const ListHook&) = delete;
  ListHook& operator=(const ListHook&) = delete;
  ~ListHook() { leave(); }

  /// Appends `this` to the ring of `head`. Requires: not in a ring.
  void join(ListHook& head) {
    prev_ = head.prev_;
    next_ = &head;
    prev_->next_ = this;
    head.prev_ = this;
  }
  void leave() {
    prev_->next_ = next_;
    next_->prev_ = prev_;
    prev_ = next_ = this;
  }
  bool alone() const { return next_ == this; }
  ListHook* next() { return next_; }

 private:
  ListHook* prev_ = this;
  ListHook* next_ = this;
};

}  // namespace perdure::detail
