#pragma once

#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace perdure {

/// A place in the engine where a test can make it fail, wait or die.
struct FailpointInfo {
  std::string_view name;
  std::string_view where;  ///< What has and what has not happened when execution is there.
};

/// Every point there is. A test walks it to crash the engine at each.
std::span<const FailpointInfo> failpoint_table();

/// Threading: any thread, all of it.
namespace failpoint {

namespace internal {
extern std::atomic<bool> active;
Status hit_active(std::string_view name);
}  // namespace internal

/// Marks a point: `PERDURE_RETURN_IF_ERROR(failpoint::hit("sqlite.commit.before"));`
/// With nothing armed it costs one relaxed load and is ok. Else it does what the point is armed
/// to do, and aborts when `name` is not in the table.
inline Status hit(std::string_view name) {
  if (!internal::active.load(std::memory_order_relaxed)) [[likely]]
    return {};
  return internal::hit_active(name);
}

/// What an armed point does to those who pass it.
struct Action {
  enum class Kind {
    kFail,   ///< `hit` returns `error`.
    kPause,  ///< `hit` waits for `release` or `disarm`, then is ok.
    kKill,   ///< The process gets SIGKILL: nothing of it runs any more.
  };

  Kind kind = Kind::kFail;
  Error error{ErrorCode::kUnavailable, "failpoint"};
  int skip = 0;   ///< Passes let through before the first act.
  int times = 1;  ///< How often it acts, then passes are let through again; -1: always.
};

/// Replaces what the point was armed to do and releases those paused there. Aborts, naming the
/// point, when `name` is not in the table; so do all functions below that take a name.
void arm(std::string_view name, Action action);

/// The point lets everyone through again; those paused there go on.
void disarm(std::string_view name);
void disarm_all();

/// Counts passes even with nothing armed.
void set_counting(bool on);

/// How often the point was passed while any point was armed or counting was on. All counts restart
/// at zero when that begins, and stay readable after it ends.
int hits(std::string_view name);

/// Keeps the names of passed points in their order, from an empty record on, until it is turned
/// off. Who is paused at a point has passed it when it goes on; who was failed there has not.
void set_recording(bool on);

/// The record: readable while it is kept and after it was turned off.
std::vector<std::string_view> passed();

/// Waits until some thread is paused at the point; false when `bound` passes first.
[[nodiscard]] bool wait_until_paused(std::string_view name, std::chrono::milliseconds bound);

/// Lets the threads now paused at the point go on; later ones are not affected.
void release(std::string_view name);

/// Arms points from text: `name=kill:skip=3;name2=pause;name3=fail:Unavailable:times=-1`.
/// kInvalidArgument, and nothing armed, when any part of it is wrong.
Status arm_from_text(std::string_view text);

/// `arm_from_text` of the variable PERDURE_FAILPOINTS; ok when it is unset.
Status arm_from_environment();

/// Arms a point for its own lifetime.
class [[nodiscard]] Scoped {
 public:
  Scoped(std::string_view name, Action action);
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;
  ~Scoped();

 private:
  std::string name_;
};

}  // namespace failpoint
}  // namespace perdure
