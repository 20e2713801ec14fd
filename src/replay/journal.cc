#include "replay/journal.h"

#include <utility>

#include "replay/commands.h"

namespace perdure::replay {

void Journal::load(std::vector<HistoryEvent> history) {
  loaded_.get().history = std::move(history);
}

const HistoryEvent* Journal::peek(std::size_t ahead) const {
  const Loaded& loaded = loaded_.peek();
  const std::size_t at = loaded.cursor + ahead;
  return at < loaded.history.size() ? &loaded.history[at] : nullptr;
}

HistoryEvent Journal::take() {
  Loaded& loaded = loaded_.get();
  HistoryEvent event = std::move(loaded.history[loaded.cursor++]);
  last_ = event.id;
  return event;
}

void Journal::go_live() {
  live_ = true;
  loaded_.reset();
}

const HistoryEvent* Journal::record(HistoryEvent command, TimePoint at) {
  if (mismatch()) return nullptr;
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
    findings_.get().warnings.push_back(to_string(changed));
  }
  ++loaded_.get().cursor;
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
  Findings* findings = findings_.find();
  return findings != nullptr ? std::exchange(findings->warnings, {}) : std::vector<std::string>();
}

void Journal::set_mismatch(Mismatch mismatch) {
  Findings& findings = findings_.get();
  if (!findings.mismatch) findings.mismatch = std::move(mismatch);
}

}  // namespace perdure::replay
