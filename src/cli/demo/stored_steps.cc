#include "cli/demo/stored_steps.h"

namespace perdure::demo {

StoredSteps::StoredSteps(const Client& client, const std::string& order) {
  for (const RunEvent& event : client.history(order).events) {
    if (event.kind == "activity_scheduled" || event.kind == "undo_scheduled") {
      names_[event.id] = event.name;
      ++steps_[event.name].scheduled;
    } else if (event.kind == "activity_completed" || event.kind == "undo_completed") {
      ++steps_[names_[event.source]].completed;
    }
  }
}

StoredSteps::Step StoredSteps::of(std::string_view step) const {
  const auto found = steps_.find(step);
  return found == steps_.end() ? Step{} : found->second;
}

std::string StoredSteps::to_string() const {
  std::string text;
  for (const auto& [id, name] : names_) {
    text += text.empty() ? "" : ", ";
    text += name + (of(name).completed > 0 ? " completed" : " not");
  }
  return text;
}

}  // namespace perdure::demo
