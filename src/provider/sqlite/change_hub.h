#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/clock.h"
#include "model/ids.h"
#include "provider/change.h"

namespace perdure::sqlite {

/// What one group of writes has touched. A value; one thread at a time.
class Topics {
 public:
  void instances(std::string_view queue);  ///< an instance of the queue became ready
  void work(std::string_view queue);       ///< work of the queue became ready
  void claims(Epoch epoch);                ///< a claim of the epoch was deleted or marked
  void run(InstanceKey instance);          ///< the status of the instance changed
  void carry_on();                         ///< a cascade or a removal was left to others

  bool empty() const { return names_.empty(); }
  void clear() { names_.clear(); }
  const std::unordered_set<std::string>& names() const { return names_; }

 private:
  std::unordered_set<std::string> names_;
};

/// Wakes those who wait for commits: at once for commits of this provider object, by a look at a
/// version for those of others. No wake-up is lost: see provider/change.h for the pattern.
/// Threading: any thread. Nobody may wait any more when it is destroyed.
class ChangeHub {
 public:
  /// Remembers the last change of so many topics; for older ones a wait may end early.
  static constexpr std::size_t kMaxTopics = 10'000;

  explicit ChangeHub(Clock& clock, std::size_t max_topics = kMaxTopics);
  ChangeHub(const ChangeHub&) = delete;
  ChangeHub& operator=(const ChangeHub&) = delete;

  /// After the commit that touched them.
  void publish(const Topics& topics);

  /// `foreign`: a foreign version that was read before; an old one only ends the next wait early.
  ChangeMark mark(std::int64_t foreign);

  /// Waits for the interest. `foreign_version` answers a number that never decreases and grows when
  /// others have committed (Writer::foreign_version); it is called without a lock, once at the
  /// beginning and then at most every `foreign_poll` for all waiting threads together. An empty
  /// function: there are no others.
  Wake wait(const Interest& interest,
            const std::function<std::int64_t()>& foreign_version,
            std::chrono::milliseconds foreign_poll = std::chrono::milliseconds(50));

  /// Ends every wait whose mark is older.
  void interrupt();

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  bool has_changed(const Interest& interest) const;
  bool changed_after(const std::string& topic, std::uint64_t mark) const;
  void trim();
  void look(const std::function<std::int64_t()>& foreign_version,
            std::unique_lock<std::mutex>& lock);

  Clock& clock_;
  const std::size_t max_topics_;

  std::mutex mutex_;
  std::condition_variable moved_;
  // Guarded by mutex_.
  std::uint64_t version_ = 0;  // one more with each publish
  std::unordered_map<std::string, std::uint64_t> last_change_;
  std::uint64_t floor_ = 0;  // topics that are not in last_change_ changed no later
  std::int64_t foreign_ = 0;
  SteadyTime looked_at_{};
  bool looking_ = false;
  std::uint64_t interrupts_ = 0;

  Subscription on_advance_;  // last: its end waits for a callback that uses the members above
};

}  // namespace perdure::sqlite
