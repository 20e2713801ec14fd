#include "runtime/isolation/program.h"

#include <utility>

#include <perdure/errors.h>

#include "base/guarded.h"

namespace perdure::runtime {

namespace {

Guarded<std::optional<std::string>>& announced() {
  static auto* const name = new Guarded<std::optional<std::string>>;  // for threads to their end
  return *name;
}

}  // namespace

void announce_program(std::string name) {
  announced().with([&](std::optional<std::string>& known) { known = std::move(name); });
}

std::optional<std::string> announced_program() {
  return announced().with([](const std::optional<std::string>& known) { return known; });
}

void check_isolation(const detail::HandlerTable& handlers) {
  if (announced_program()) return;
  for (const std::string& name : handlers.activity_names()) {
    if (handlers.activity_options(name).isolation != Isolation::kProcess) continue;
    throw InvalidArgument("activity '" + name +
                          "' is to run in a process of its own: " + kCallIsolatedMain);
  }
}

}  // namespace perdure::runtime
