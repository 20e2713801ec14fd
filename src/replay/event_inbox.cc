#include "replay/event_inbox.h"

#include <algorithm>

namespace perdure::replay {

namespace {

/// Of an event: its payload and a place in a map.
std::size_t bytes_of(const std::string& payload) {
  return 64 + payload.size();
}

}  // namespace

std::vector<EventInbox::Match> EventInbox::deliver(std::string name, std::string payload) {
  bytes_ += bytes_of(payload);
  Line& line = lines_[std::move(name)];
  line.events.emplace(++arrivals_, std::move(payload));
  return join(line);
}

std::vector<EventInbox::Match> EventInbox::subscribe(detail::OpRef wait) {
  Line& line = lines_[wait->name];
  const std::int64_t id = wait->event;
  line.waits.emplace(id, std::move(wait));
  return join(line);
}

void EventInbox::unsubscribe(const detail::Op& wait) {
  const auto line = lines_.find(wait.name);
  if (line != lines_.end()) line->second.waits.erase(wait.event);
}

std::vector<EventInbox::Match> EventInbox::put_back(const detail::Op& wait) {
  const auto found = lines_.find(wait.name);
  if (found == lines_.end()) return {};
  Line& line = found->second;
  const auto given = line.given.find(wait.event);
  if (given == line.given.end()) return {};
  line.events.emplace(given->second.arrival, std::move(given->second.payload));
  line.given.erase(given);
  return join(line);
}

std::vector<EventInbox::Match> EventInbox::join(Line& line) {
  std::vector<Match> matches;
  while (!line.events.empty() && !line.waits.empty()) {
    auto wait = line.waits.extract(line.waits.begin());
    auto event = line.events.extract(line.events.begin());
    matches.push_back({wait.mapped(), event.mapped()});
    forget_seen(line);
    line.given.insert_or_assign(
        wait.key(), Given{std::move(wait.mapped()), event.key(), std::move(event.mapped())});
  }
  return matches;
}

void EventInbox::forget_seen(Line& line) {
  if (line.given.size() < line.forget_at) return;
  std::erase_if(line.given, [this](const auto& given) {
    if (given.second.wait->consumed) bytes_ -= bytes_of(given.second.payload);
    return given.second.wait->consumed;
  });
  line.forget_at = std::max<std::size_t>(16, 2 * line.given.size());
}

std::vector<HistoryEvent> EventInbox::unread() const {
  std::map<std::uint64_t, HistoryEvent> ordered;
  const auto add = [&](const std::string& name, std::uint64_t arrival, const std::string& payload) {
    HistoryEvent event;
    event.kind = EventKind::kEventReceived;
    event.name = name;
    event.payload = payload;
    ordered.emplace(arrival, std::move(event));
  };
  for (const auto& [name, line] : lines_) {
    for (const auto& [arrival, payload] : line.events) add(name, arrival, payload);
    for (const auto& [id, given] : line.given) {
      if (!given.wait->consumed) add(name, given.arrival, given.payload);
    }
  }
  std::vector<HistoryEvent> events;
  events.reserve(ordered.size());
  for (auto& [order, event] : ordered) events.push_back(std::move(event));
  return events;
}

}  // namespace perdure::replay
