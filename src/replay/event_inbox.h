#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <perdure/detail/op.h>

#include "model/event.h"

namespace perdure::replay {

/// External events of a run and the waits for them: first come, first served, for each name by
/// itself. An event that a wait got but the code never saw goes back to its place.
class EventInbox {
 public:
  struct Match {
    detail::OpRef wait;
    std::string payload;
  };

  /// An event has come. The pairs that can be joined now, oldest first.
  std::vector<Match> deliver(std::string name, std::string payload);
  /// A wait begins.
  std::vector<Match> subscribe(detail::OpRef wait);
  /// A pending wait ends.
  void unsubscribe(const detail::Op& wait);
  /// The event of a wait that was resolved but not consumed is free again.
  std::vector<Match> put_back(const detail::Op& wait);

  /// Events that the code has not seen, in the order of their arrival.
  std::vector<HistoryEvent> unread() const;

  /// Memory of the events that are here, near enough.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Given {
    detail::OpRef wait;
    std::uint64_t arrival = 0;
    std::string payload;
  };
  struct Line {
    std::map<std::uint64_t, std::string> events;  // free, by arrival
    std::map<std::int64_t, detail::OpRef> waits;  // pending, by event id: in order of the waits
    std::map<std::int64_t, Given> given;  // by the wait's event id, until the code has seen it
    std::size_t forget_at = 16;           // size of `given` at which it is looked through
  };

  std::vector<Match> join(Line& line);
  void forget_seen(Line& line);

  std::map<std::string, Line, std::less<>> lines_;
  std::uint64_t arrivals_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace perdure::replay
