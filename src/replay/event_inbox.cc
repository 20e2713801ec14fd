#include "replay/event_inbox.h"

#include <algorithm>

namespace perdure::replay {

std::vector<EventInbox::Match> EventInbox::deliver(std::string name, std::string payload) {
  Line& line = lines_[std::move(name)];
  line.events.push_back({++arrivals_, std::move(payload)});
  return join(line);
}

std::vector<EventInbox::Match> EventInbox::subscribe(detail::OpRef wait) {
  Line& line = lines_[wait->name];
  line.waits.push_back(std::move(wait));
  return join(line);
}

void EventInbox::unsubscribe(const detail::Op& wait) {
  const auto line = lines_.find(wait.name);
  if (line == lines_.end()) return;
  std::erase_if(line->second.waits, [&](const auto& each) { return each.get() == &wait; });
}

std::vector<EventInbox::Match> EventInbox::put_back(const detail::Op& wait) {
  const auto found = lines_.find(wait.name);
  if (found == lines_.end()) return {};
  Line& line = found->second;
  const auto given = line.given.find(wait.event);
  if (given == line.given.end()) return {};
  Arrived event = std::move(given->second.event);
  line.given.erase(given);
  const auto place = std::find_if(line.events.begin(), line.events.end(), [&](const Arrived& each) {
    return each.order > event.order;
  });
  line.events.insert(place, std::move(event));
  return join(line);
}

std::vector<EventInbox::Match> EventInbox::join(Line& line) {
  std::vector<Match> matches;
  while (!line.events.empty() && !line.waits.empty()) {
    detail::OpRef wait = std::move(line.waits.front());
    line.waits.pop_front();
    Arrived event = std::move(line.events.front());
    line.events.pop_front();
    matches.push_back({wait, event.payload});
    while (!line.given.empty() && line.given.begin()->second.wait->consumed) {
      line.given.erase(line.given.begin());
    }
    const std::int64_t id = wait->event;
    line.given.insert_or_assign(id, Given{std::move(wait), std::move(event)});
  }
  return matches;
}

std::vector<HistoryEvent> EventInbox::unread() const {
  std::map<std::uint64_t, HistoryEvent> ordered;
  const auto add = [&](const std::string& name, const Arrived& arrived) {
    HistoryEvent event;
    event.kind = EventKind::kEventReceived;
    event.name = name;
    event.payload = arrived.payload;
    ordered.emplace(arrived.order, std::move(event));
  };
  for (const auto& [name, line] : lines_) {
    for (const Arrived& arrived : line.events) add(name, arrived);
    for (const auto& [id, given] : line.given) {
      if (!given.wait->consumed) add(name, given.event);
    }
  }
  std::vector<HistoryEvent> events;
  events.reserve(ordered.size());
  for (auto& [order, event] : ordered) events.push_back(std::move(event));
  return events;
}

}  // namespace perdure::replay
