#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <perdure/handler_options.h>
#include <perdure/orchestration_options.h>
#include <perdure/task.h>

namespace perdure {
class ActivityContext;
class OrchestrationContext;
}  // namespace perdure

namespace perdure::detail {

class AttemptApi;
class TurnApi;

/// An activity without its types: JSON text in, JSON text out, exceptions for failures.
using ActivityHandler = std::function<std::string(AttemptApi&, const std::string& input)>;

/// An orchestration without its types: what a run of it consists of. Destroyed after its frames.
class MainFrame {
 public:
  virtual ~MainFrame() = default;
  /// The coroutine that gives the output. Called once.
  virtual Task<std::string> start(std::string input) = 0;
  /// What the handlers of messages share with main.
  virtual OrchestrationContext& context() = 0;
  /// The state object that main takes; null when it takes none.
  virtual void* state() = 0;
};
using MainFactory = std::function<std::unique_ptr<MainFrame>(TurnApi&)>;

/// A handler of signals or updates without its types: JSON text in, JSON text out.
struct MessageHandler {
  std::function<Task<std::string>(MainFrame&, std::string payload)> start;
  /// Of an update: reads alone; throws NoInput when the payload is no input of it, and what its
  /// validator throws.
  std::function<void(MainFrame&, const std::string& payload)> check;
  bool cancel_with_run = false;
};
using QueryHandler = std::function<std::string(MainFrame&, const std::string& payload)>;

/// What a run can be told and asked, by name.
struct MessageHandlers {
  std::map<std::string, MessageHandler, std::less<>> signals;
  std::map<std::string, MessageHandler, std::less<>> updates;
  std::map<std::string, QueryHandler, std::less<>> queries;

  bool empty() const { return signals.empty() && updates.empty() && queries.empty(); }
};

struct OrchestrationHandler {
  std::string name;
  std::string version;  ///< empty: registered without one
  MainFactory make;
  OrchestrationOptions options = {};
  MessageHandlers messages = {};
};

/// What a program has registered. Filled before the runtime starts, read by many threads after.
class HandlerTable {
 public:
  /// InvalidArgument: a name that is no id, or one that is registered already.
  void add_activity(std::string_view name, ActivityHandler handler, HandlerOptions options = {});
  /// InvalidArgument: also a version that does not parse (1 to 3 numbers: "2", "1.4", "1.4.2"), or
  /// an option out of its range.
  void add_orchestration(std::string_view name,
                         std::string_view version,
                         MainFactory make,
                         const OrchestrationOptions& options = {});

  /// Handlers of one version of an orchestration. Requires: that is registered. InvalidArgument: a
  /// name that is no id, or one that this version has for the same kind of message.
  void add_signal(const std::string& orchestration,
                  const std::string& version,
                  std::string_view name,
                  MessageHandler handler);
  void add_update(const std::string& orchestration,
                  const std::string& version,
                  std::string_view name,
                  MessageHandler handler);
  void add_query(const std::string& orchestration,
                 const std::string& version,
                 std::string_view name,
                 QueryHandler handler);
  /// A copy of what another table has under its name and version. InvalidArgument when it is taken.
  void add_orchestration(const OrchestrationHandler& handler);

  const ActivityHandler* find_activity(std::string_view name) const;
  /// The defaults for a name that is not registered.
  HandlerOptions activity_options(std::string_view name) const;
  /// An empty version: the newest. "1.2" finds what is registered as "1.2.0".
  const OrchestrationHandler* find_orchestration(std::string_view name,
                                                 std::string_view version) const;

  std::vector<std::string> activity_names() const;
  /// In order of name, then version, oldest first.
  std::vector<const OrchestrationHandler*> orchestrations() const;

 private:
  struct RegisteredActivity {
    ActivityHandler handler;
    HandlerOptions options;
  };

  OrchestrationHandler& registered(const std::string& orchestration, const std::string& version);

  std::map<std::string, RegisteredActivity, std::less<>> activities_;
  /// Versions of a name, oldest first.
  std::map<std::string, std::vector<OrchestrationHandler>, std::less<>> orchestrations_;
};

}  // namespace perdure::detail
