#include "cli/run_text.h"

#include <optional>
#include <ostream>

#include "cli/printable.h"
#include "cli/text_table.h"
#include "cli/times.h"
#include "model/status.h"

namespace perdure::cli {

namespace {

constexpr std::size_t kTextColumns = 2'000;
constexpr std::size_t kPayloadColumns = 200;

std::string with_version(const std::string& name, const std::string& version) {
  return version.empty() ? name : name + " " + version;
}

std::string at(TimePoint time, TimePoint now) {
  return local_time(time) + " (" + age(time, now) + ")";
}

/// Lines of a field and its value; fields without one are left out.
class Fields {
 public:
  Fields(std::ostream& out, TimePoint now) : out_(out), now_(now) {}

  void text(const char* name, const std::string& value) {
    if (!value.empty()) line(name, printable(value), kTextColumns);
  }
  void time(const char* name, const std::optional<TimePoint>& value) {
    if (value) line(name, at(*value, now_), kTextColumns);
  }
  void json(const char* name, const Json& value) {
    if (value.is_null()) return;
    const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    line(name, printable(text), kPayloadColumns);
  }

 private:
  void line(std::string name, const std::string& value, std::size_t columns) {
    constexpr std::size_t kNameColumns = 14;
    name.resize(kNameColumns, ' ');
    const std::string shown = shortened(value, columns);
    out_ << name << shown;
    if (shown != value) out_ << " (" << value.size() << " bytes; --json has all)";
    out_ << '\n';
  }

  std::ostream& out_;
  TimePoint now_;
};

std::string ended(const RunStatus& status, TimePoint now) {
  if (!status.completed_at) return {};
  return at(*status.completed_at, now) + ", after " +
         span(*status.completed_at - status.started_at);
}

}  // namespace

std::string code_of(const RunSummary& run) {
  return with_version(run.name, run.version);
}

std::string status_of(const RunSummary& run) {
  return run.problem.empty() ? std::string(to_string(run.status)) : "?";
}

std::string note_on(const RunSummary& run) {
  if (!run.problem.empty()) return run.problem;
  return run.blocked.empty() ? "" : "blocked: " + run.blocked;
}

void print_status(std::ostream& out, const RunStatus& status, TimePoint now) {
  Fields fields(out, now);
  fields.text("id", status.id);
  fields.text("name", with_version(status.name, status.version));
  fields.text("queue", status.queue);
  fields.text("execution", std::to_string(status.execution));
  fields.text("status", std::string(to_string(status.status)));
  fields.text("blocked", status.blocked);
  fields.text("  because", status.blocked_detail);
  fields.time("  since", status.blocked_since);
  fields.time("started", status.started_at);
  fields.text("ended", ended(status, now));
  fields.time("deadline", status.deadline);
  fields.time("cancel asked", status.cancel_requested_at);
  fields.text("  reason", status.cancel_reason);
  fields.time("canceled", status.canceled_at);
  fields.json("custom", status.custom_status);
  fields.json("output", status.output);
  fields.text("failure", status.failure.type);
  fields.text("  message", status.failure.message);
  fields.text("  details", status.failure.details);
}

void print_runs(std::ostream& out, const std::vector<RunSummary>& runs, TimePoint now) {
  TextTable table({"ID", "NAME", "STATUS", "EXECUTION", "CREATED", "AGE", "NOTE"});
  for (const RunSummary& run : runs) {
    table.add({run.id,
               code_of(run),
               status_of(run),
               std::to_string(run.execution),
               local_time(run.created_at),
               age(run.created_at, now),
               note_on(run)});
  }
  table.print(out);
}

void print_tree(std::ostream& out, const RunTree& tree, TimePoint now) {
  TextTable table({"RUN", "NAME", "STATUS", "CREATED", "NOTE"});
  for (const RunTreeNode& node : tree.nodes) {
    table.add({std::string(2 * static_cast<std::size_t>(node.depth), ' ') + node.run.id,
               code_of(node.run),
               status_of(node.run),
               age(node.run.created_at, now),
               note_on(node.run)});
  }
  table.print(out);
}

}  // namespace perdure::cli
