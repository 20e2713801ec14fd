#include <algorithm>
#include <utility>

#include <perdure/detail/handler_table.h>
#include <perdure/errors.h>

#include "model/ids.h"
#include "model/option_ranges.h"
#include "model/version.h"

namespace perdure::detail {

namespace {

void require_id(std::string_view field, std::string_view id) {
  const Status status = check_id(field, id);
  if (!status.ok()) throw InvalidArgument(status.error().message);
}

Version parsed(std::string_view name, std::string_view text) {
  const auto version = parse_version(text);
  if (version) return *version;
  throw InvalidArgument("version '" + std::string(text) + "' of orchestration '" +
                        std::string(name) + "': use one to three numbers, as in \"1.4.2\"");
}

/// What is registered, for errors.
struct Declared {
  std::string kind;
  const std::string& orchestration;
  std::string_view name;
};

template <class Handler>
void add_once(std::map<std::string, Handler, std::less<>>& handlers,
              const Declared& declared,
              Handler handler) {
  require_id(declared.kind + " name", declared.name);
  if (handlers.emplace(std::string(declared.name), std::move(handler)).second) return;
  throw InvalidArgument(declared.kind + " '" + std::string(declared.name) + "' of orchestration '" +
                        declared.orchestration + "' is registered already");
}

}  // namespace

void HandlerTable::add_activity(std::string_view name,
                                ActivityHandler handler,
                                HandlerOptions options) {
  require_id("activity name", name);
  RegisteredActivity added{std::move(handler), options};
  if (!activities_.emplace(std::string(name), std::move(added)).second) {
    throw InvalidArgument("activity '" + std::string(name) + "' is registered already");
  }
}

void HandlerTable::add_orchestration(std::string_view name,
                                     std::string_view version,
                                     MainFactory make,
                                     const OrchestrationOptions& options) {
  require_id("orchestration name", name);
  const Version added = parsed(name, version);
  if (options.deadlock_timeout) {
    option_ranges::check_time("deadlock_timeout of orchestration '" + std::string(name) + "'",
                              *options.deadlock_timeout,
                              Duration::zero());
  }
  std::vector<OrchestrationHandler>& versions = orchestrations_[std::string(name)];
  const auto place = std::find_if(versions.begin(), versions.end(), [&](const auto& each) {
    return !(*parse_version(each.version) < added);
  });
  if (place != versions.end() && *parse_version(place->version) == added) {
    throw InvalidArgument("orchestration '" + std::string(name) + "' is registered already" +
                          (version.empty() ? "" : " with version " + std::string(version)));
  }
  versions.insert(place, {std::string(name), std::string(version), std::move(make), options, {}});
}

void HandlerTable::add_orchestration(const OrchestrationHandler& handler) {
  add_orchestration(handler.name, handler.version, handler.make, handler.options);
  registered(handler.name, handler.version).messages = handler.messages;
}

OrchestrationHandler& HandlerTable::registered(const std::string& orchestration,
                                               const std::string& version) {
  std::vector<OrchestrationHandler>& versions = orchestrations_[orchestration];
  const auto found = std::find_if(
      versions.begin(), versions.end(), [&](const auto& each) { return each.version == version; });
  if (found != versions.end()) return *found;
  throw InvalidArgument("orchestration '" + orchestration + "' is not registered");
}

void HandlerTable::add_signal(const std::string& orchestration,
                              const std::string& version,
                              std::string_view name,
                              MessageHandler handler) {
  add_once(registered(orchestration, version).messages.signals,
           {"signal", orchestration, name},
           std::move(handler));
}

void HandlerTable::add_update(const std::string& orchestration,
                              const std::string& version,
                              std::string_view name,
                              MessageHandler handler) {
  add_once(registered(orchestration, version).messages.updates,
           {"update", orchestration, name},
           std::move(handler));
}

void HandlerTable::add_query(const std::string& orchestration,
                             const std::string& version,
                             std::string_view name,
                             QueryHandler handler) {
  add_once(registered(orchestration, version).messages.queries,
           {"query", orchestration, name},
           std::move(handler));
}

const ActivityHandler* HandlerTable::find_activity(std::string_view name) const {
  const auto found = activities_.find(name);
  return found == activities_.end() ? nullptr : &found->second.handler;
}

HandlerOptions HandlerTable::activity_options(std::string_view name) const {
  const auto found = activities_.find(name);
  return found == activities_.end() ? HandlerOptions{} : found->second.options;
}

const OrchestrationHandler* HandlerTable::find_orchestration(std::string_view name,
                                                             std::string_view version) const {
  const auto found = orchestrations_.find(name);
  if (found == orchestrations_.end()) return nullptr;
  if (version.empty()) return &found->second.back();
  const auto wanted = parse_version(version);
  for (const OrchestrationHandler& each : found->second) {
    if (parse_version(each.version) == wanted) return &each;
  }
  return nullptr;
}

std::vector<std::string> HandlerTable::activity_names() const {
  std::vector<std::string> names;
  for (const auto& [name, activity] : activities_) names.push_back(name);
  return names;
}

std::vector<const OrchestrationHandler*> HandlerTable::orchestrations() const {
  std::vector<const OrchestrationHandler*> all;
  for (const auto& [name, versions] : orchestrations_) {
    for (const OrchestrationHandler& each : versions) all.push_back(&each);
  }
  return all;
}

}  // namespace perdure::detail
