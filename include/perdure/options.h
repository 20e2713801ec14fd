#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <perdure/errors.h>
#include <perdure/time.h>

/// How calls are made. Every struct here is trivially destructible, because g++ 12 destroys other
/// aggregates inside a `co_await` expression twice; texts are views and are copied by the call.
namespace perdure {

/// What a cancel does to a call that is running. Stored; never renumber.
enum class OnCancel : std::uint8_t {
  kTryCancel = 1,  ///< the await ends at once; the call's outcome is unknown, a late one is refused
  kWait = 2,       ///< the await ends with the real outcome of the handler or child
  kAbandon = 3,    ///< the await ends at once; the call runs on, its outcome is dropped
};

/// What becomes of a child when its parent ends, whatever the way. Stored; never renumber.
enum class ClosePolicy : std::uint8_t {
  kCancel = 1,   ///< canceled in the commit that ends the parent
  kAbandon = 2,  ///< goes on by itself
};

/// A start on an id whose current execution is live.
enum class OnConflict : std::uint8_t { kFail, kUseExisting, kCancelExisting };

/// A start on an id whose current execution has ended.
enum class OnReuse : std::uint8_t { kAllow, kOnlyFailed, kReject };

/// When a failed attempt is made again. All attempts belong to one call.
struct Retry {
  static constexpr std::size_t kMaxTypes = 8;

  int max_attempts = 1;  ///< attempts in all; 0 = without limit
  Duration first_delay = std::chrono::seconds(1);
  double backoff = 2.0;  ///< each further delay is this much longer
  /// Longest delay, not below the first; a longer first delay raises it while it has its default.
  Duration max_delay = std::chrono::minutes(1);
  double jitter = 0.0;                             ///< 0 .. 1: the delay is cut by up to this part
  std::string_view non_retryable[kMaxTypes] = {};  ///< failure types that are final at once

  /// The same policy, final at once for these failure types as well; InvalidArgument for more than
  /// kMaxTypes in all.
  template <class... Types>
  constexpr Retry except(Types... types) const {
    static_assert(sizeof...(Types) <= kMaxTypes, "perdure: at most 8 non-retryable types");
    Retry copy = *this;
    std::size_t at = 0;
    while (at < kMaxTypes && !copy.non_retryable[at].empty()) ++at;
    if (at + sizeof...(Types) > kMaxTypes) {
      throw InvalidArgument("non_retryable: at most 8 failure types");
    }
    ((copy.non_retryable[at++] = std::string_view(types)), ...);
    return copy;
  }
};

/// `retry(5, 1s)`: five attempts in all, the second after one second, then 2, 4, 8 .. seconds.
constexpr Retry retry(int max_attempts, Duration first_delay = std::chrono::seconds(1)) {
  Retry policy;
  policy.max_attempts = max_attempts;
  policy.first_delay = first_delay;
  return policy;
}

/// Options of a call of an activity. A zero duration is no limit.
struct ActivityOptions {
  std::string_view queue = {};  ///< empty: the queue of the run
  int priority = 0;             ///< higher first
  Retry retry = {};
  Duration timeout = {};            ///< of the call as a whole, all attempts: schedule_to_close
  Duration start_to_close = {};     ///< of one attempt, from its claim
  Duration schedule_to_start = {};  ///< from the call to the first claim
  Duration heartbeat = {};          ///< between two heartbeats of an attempt
  OnCancel on_cancel = OnCancel::kTryCancel;
};

/// Options of the undo of a call. It runs shielded, so a cancel does not reach it.
struct UndoOptions {
  std::string_view queue = {};
  int priority = 0;
  Retry retry = perdure::retry(10);
  Duration timeout = {};
};

/// Options of a call of another orchestration.
struct ChildOptions {
  std::string_view id = {};  ///< empty: `<parent>/<execution>.<event id>`
  /// One to three numbers, as in "1.4.2"; missing ones are zero, so "1" asks for "1.0" too. Empty:
  /// the newest that is registered where it runs.
  std::string_view version = {};
  std::string_view queue = {};  ///< empty: the queue of the run
  ClosePolicy close_policy = ClosePolicy::kCancel;
  OnReuse on_reuse = OnReuse::kAllow;
  OnCancel on_cancel = OnCancel::kTryCancel;
  Duration timeout = {};  ///< of the call: then the child is canceled and the call has failed
};

/// Options of a start without a parent link, from an orchestration.
struct DetachedOptions {
  std::string_view version = {};  ///< as of a child
  std::string_view queue = {};
  OnReuse on_reuse = OnReuse::kAllow;
  Duration delay = {};
  Duration run_timeout = {};  ///< deadline of the run, from its start
};

/// Options of a client's start.
struct StartOptions {
  std::string_view version = {};  ///< as of a child
  std::string_view queue = "default";
  /// -100 to 100, higher first: of the run's turns among those that are due. Its activities add it
  /// to their own, its children (not detached runs) inherit it, and continue-as-new keeps it.
  int priority = 0;
  Duration delay = {};
  Duration run_timeout = {};  ///< deadline of the run, from its start
  OnConflict on_conflict = OnConflict::kFail;
  OnReuse on_reuse = OnReuse::kAllow;
  std::string_view request_id = {};  ///< makes the call repeatable: the same id starts once
};

/// Options of a client's event.
struct RaiseOptions {
  Duration delay = {};               ///< the run gets it so much later
  Duration buffer_for = {};          ///< for an id that is not known yet: kept that long for it
  std::string_view request_id = {};  ///< makes the call repeatable: the same id is one event
};

/// Options of a client's signal.
struct SignalOptions {
  Duration delay = {};               ///< the run gets it so much later
  std::string_view request_id = {};  ///< makes the call repeatable: the same id is one signal
};

/// Options of a client's update.
struct UpdateOptions {
  /// Known by it among the updates of the run: the same id is one update, whoever sends it again,
  /// and its result can be asked for later. Empty: one is made.
  std::string_view update_id = {};
  Duration timeout = std::chrono::seconds(30);  ///< of the wait; the update goes on
};

/// Options of a client's query.
struct QueryOptions {
  Duration timeout = std::chrono::seconds(10);
};

static_assert(std::is_trivially_destructible_v<Retry> &&
              std::is_trivially_destructible_v<ActivityOptions> &&
              std::is_trivially_destructible_v<UndoOptions> &&
              std::is_trivially_destructible_v<ChildOptions> &&
              std::is_trivially_destructible_v<DetachedOptions> &&
              std::is_trivially_destructible_v<StartOptions> &&
              std::is_trivially_destructible_v<RaiseOptions> &&
              std::is_trivially_destructible_v<SignalOptions> &&
              std::is_trivially_destructible_v<UpdateOptions> &&
              std::is_trivially_destructible_v<QueryOptions>);

}  // namespace perdure
