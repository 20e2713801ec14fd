#include "tests/engine/random_program.h"

namespace perdure::test {

namespace {

constexpr int kDeepest = 3;
constexpr int kLargest = 30;

class Author {
 public:
  explicit Author(std::uint64_t seed) : dice_(seed) {}

  Block block(int depth, int longest) {
    Block made;
    const int length = 1 + dice_.pick(longest);
    for (int i = 0; i < length && written_ < kLargest; ++i) made.push_back(instruction(depth));
    return made;
  }

 private:
  static bool has_body(Do what) {
    return what == Do::kSpawn || what == Do::kSubTask || what == Do::kShield ||
           what == Do::kScope || what == Do::kTry || what == Do::kBranch || what == Do::kLoop;
  }

  /// Ends of the run are rarer than the rest, or programs would be short.
  Do choose(int depth) {
    for (;;) {
      const Do what = static_cast<Do>(dice_.pick(kDoCount));
      if (has_body(what) && depth >= kDeepest) continue;
      const bool ends = what == Do::kThrow || what == Do::kContinueAsNew;
      if (!ends || dice_.once_in(4)) return what;
    }
  }

  Instruction instruction(int depth) {
    ++written_;
    Instruction made;
    made.what = choose(depth);
    made.variant = dice_.pick(8);
    made.count = 1 + dice_.pick(3);
    if (has_body(made.what)) {
      made.body = block(depth + 1, 3);
      if (made.what == Do::kTry || made.what == Do::kBranch || made.what == Do::kScope) {
        made.other = block(depth + 1, 2);
      }
    }
    return made;
  }

  Dice dice_;
  int written_ = 0;
};

}  // namespace

std::uint64_t Dice::next() {
  // SplitMix64.
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

Block make_program(std::uint64_t seed) {
  return Author(seed).block(0, 12);
}

Block make_handler_program(std::uint64_t seed) {
  return Author(seed).block(1, 4);
}

}  // namespace perdure::test
