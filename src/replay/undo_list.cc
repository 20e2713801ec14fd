#include "replay/undo_list.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

namespace perdure::replay {

namespace {

/// Types are separated by a character that check_id refuses nowhere but JSON escapes everywhere.
constexpr char kSeparator = ' ';

std::string escaped(std::string_view type) {
  std::string text;
  for (const char c : type) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && c != '"' && c != '\\' && c != '%') {
      text += c;
      continue;
    }
    constexpr std::string_view kHex = "0123456789ABCDEF";
    text += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return text;
}

std::string unescaped(std::string_view text) {
  std::string type;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 2 >= text.size()) {
      type += text[i];
      continue;
    }
    int byte = 0;
    std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
    type += static_cast<char>(byte);
    i += 2;
  }
  return type;
}

}  // namespace

std::string encode_undo_policy(const UndoOptions& options) {
  const Retry& retry = options.retry;
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(17);
  out << '"' << options.priority << kSeparator << retry.max_attempts << kSeparator
      << to_micros(retry.first_delay) << kSeparator << retry.backoff << kSeparator
      << to_micros(retry.max_delay) << kSeparator << retry.jitter << kSeparator
      << to_micros(options.timeout);
  for (const std::string_view type : retry.non_retryable) {
    if (!type.empty()) out << kSeparator << escaped(type);
  }
  out << '"';
  return out.str();
}

std::optional<NewWork> decode_undo_policy(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  std::istringstream in{std::string(text.substr(1, text.size() - 2))};
  in.imbue(std::locale::classic());
  NewWork work;
  std::int64_t first = 0;
  std::int64_t longest = 0;
  std::int64_t timeout = 0;
  in >> work.priority >> work.retry.max_attempts >> first >> work.retry.backoff >> longest >>
      work.retry.jitter >> timeout;
  if (in.fail()) return std::nullopt;
  work.retry.first_delay = Duration{first};
  work.retry.max_delay = Duration{longest};
  work.timeouts.schedule_to_close = Duration{timeout};
  work.shielded = true;
  for (std::string type; in >> type;) work.retry.non_retryable.push_back(unescaped(type));
  return work;
}

void UndoList::add(const HistoryEvent& owed) {
  entries_.push_back({owed.source, owed.name, owed.text, owed.payload, {}, State::kCalled, {}, {}});
  ++called_;
  bytes_ += sizeof(Entry) + owed.name.size() + owed.text.size() + owed.payload.size();
}

UndoList::Entry* UndoList::find(EventId call) {
  // Calls are added in order of their ids.
  const auto entry =
      std::lower_bound(entries_.begin(), entries_.end(), call, [](const Entry& each, EventId id) {
        return each.call < id;
      });
  return entry != entries_.end() && entry->call == call ? &*entry : nullptr;
}

bool UndoList::contains(EventId call) const {
  return const_cast<UndoList*>(this)->find(call) != nullptr;
}

void UndoList::call_completed(EventId call, const std::string& result) {
  Entry* entry = find(call);
  if (entry == nullptr) return;
  if (entry->state == State::kCalled) --called_;
  entry->state = State::kOwed;
  bytes_ += result.size() - entry->result.size();
  entry->result = result;
  above_ = entries_.size();
}

void UndoList::call_ended_otherwise(EventId call) {
  Entry* entry = find(call);
  if (entry == nullptr) return;
  if (entry->state == State::kCalled) --called_;
  entry->state = State::kNothing;
}

const UndoList::Entry* UndoList::next() {
  while (above_ > 0 && entries_[above_ - 1].state != State::kOwed) --above_;
  return above_ == 0 ? nullptr : &entries_[above_ - 1];
}

void UndoList::begin_next(EventId undo) {
  Entry& entry = entries_[above_ - 1];
  entry.state = State::kRunning;
  entry.undo = undo;
  runs_ = true;
}

const UndoList::Entry* UndoList::running() const {
  return runs_ ? &entries_[above_ - 1] : nullptr;
}

void UndoList::end_running(State state, Failure failure) {
  Entry& entry = entries_[above_ - 1];
  entry.state = state;
  entry.failure = std::move(failure);
  runs_ = false;
}

const UndoList::Entry* UndoList::failed() const {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [](const Entry& each) {
    return each.state == State::kFailed;
  });
  return entry == entries_.end() ? nullptr : &*entry;
}

bool UndoList::has_owed() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return entry.state == State::kCalled || entry.state == State::kOwed ||
           entry.state == State::kRunning;
  });
}

}  // namespace perdure::replay
