#include "replay/journal.h"

#include <utility>

#include "replay/commands.h"

namespace perdure::replay {

void Journal::load(std::vector<HistoryEvent> history) {
  history_ = std::move(history);
  cursor_ = 0;
}

const HistoryEvent* Journal::peek() const {
  return cursor_ < history_.size() ? &history_[cursor_] : nullptr;
}

HistoryEvent Journal::take() {
  HistoryEvent event = std::move(history_[cursor_++]);
  last_ = event.id;
  return event;
}

void Journal::go_live() {
  live_ = true;
  history_ = {};
  cursor_ = 0;
}

const HistoryEvent* Journal::record(HistoryEvent command, TimePoint at) {
  if (mismatch_) return nullptr;
  if (!live_) return match(command);
  command.id = next_id();
  command.at = at;
  last_ = command.id;
  appended_.push_back(std::move(command));
  return &appended_.back();
}

const HistoryEvent* Journal::match(const HistoryEvent& command) {
  const HistoryEvent* recorded = peek();
  if (recorded == nullptr) {
    set_mismatch({next_id(), "nothing more", describe(command), kNotDeterministicHint});
    return nullptr;
  }
  if (!same_command(*recorded, command)) {
    set_mismatch({recorded->id, describe(*recorded), describe(command), kNotDeterministicHint});
    return nullptr;
  }
  if (arguments_ != ArgumentCheck::kOff && !same_arguments(*recorded, command)) {
    Mismatch changed{recorded->id,
                     describe(*recorded),
                     describe(command) + " with other arguments",
                     kChangedCodeHint};
    if (arguments_ == ArgumentCheck::kStrict) {
      set_mismatch(std::move(changed));
      return nullptr;
    }
    warnings_.push_back(to_string(changed));
  }
  ++cursor_;
  last_ = recorded->id;
  return recorded;
}

const HistoryEvent& Journal::append(HistoryEvent input) {
  input.id = next_id();
  last_ = input.id;
  appended_.push_back(std::move(input));
  return appended_.back();
}

std::vector<HistoryEvent> Journal::take_appended() {
  return std::exchange(appended_, {});
}

std::vector<std::string> Journal::take_warnings() {
  return std::exchange(warnings_, {});
}

void Journal::set_mismatch(Mismatch mismatch) {
  if (!mismatch_) mismatch_ = std::move(mismatch);
}

}  // namespace perdure::replay
