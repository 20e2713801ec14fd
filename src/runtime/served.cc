#include "runtime/served.h"

#include <utility>

#include "model/version.h"

namespace perdure::runtime {

std::vector<ServedOrchestration> served_by(const detail::HandlerTable& handlers) {
  std::vector<ServedOrchestration> served;
  const std::string* last = nullptr;
  for (const detail::OrchestrationHandler* each : handlers.orchestrations()) {
    if (last == nullptr || *last != each->name) served.push_back({each->name, {}});
    last = &each->name;
    for (std::string& version : served_versions(each->version)) {
      served.push_back({each->name, std::move(version)});
    }
  }
  return served;
}

std::vector<DeclaredSignals> declared_by(const detail::HandlerTable& handlers) {
  std::vector<DeclaredSignals> declared;
  for (const detail::OrchestrationHandler* each : handlers.orchestrations()) {
    std::vector<std::string> versions = served_versions(each->version);
    if (each->version.empty()) versions.emplace_back();
    for (std::string& version : versions) {
      DeclaredSignals& code = declared.emplace_back();
      code.orchestration = each->name;
      code.version = std::move(version);
      for (const auto& [name, handler] : each->messages.signals) code.signals.push_back(name);
    }
  }
  return declared;
}

const detail::OrchestrationHandler* find_main(const detail::HandlerTable& handlers,
                                              const OrchestrationItem& item,
                                              bool continues) {
  if (!item.version.empty() || !(had_turn(item) || continues)) {
    return handlers.find_orchestration(item.name, item.version);
  }
  for (const detail::OrchestrationHandler* each : handlers.orchestrations()) {
    if (each->name == item.name && each->version.empty()) return each;
  }
  return nullptr;
}

std::string not_registered(const OrchestrationItem& item) {
  return "orchestration '" + item.name + "' is not registered " +
         (item.version.empty() ? "without a version, as this run began"
                               : "with version " + item.version);
}

}  // namespace perdure::runtime
