#include "cli/replay_printer.h"

#include <ostream>

#include "cli/exit_codes.h"
#include "cli/run_json.h"

namespace perdure::cli {

namespace {

using Kind = ReplayResult::Kind;

constexpr std::array kAllKinds = {
    Kind::kOk, Kind::kMismatch, Kind::kUnserved, Kind::kSkipped, Kind::kUnreadable};

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kOk:
      return "ok";
    case Kind::kMismatch:
      return "mismatch";
    case Kind::kUnserved:
      return "unserved";
    case Kind::kSkipped:
      return "skipped";
    case Kind::kUnreadable:
      return "unreadable";
  }
  return "";
}

OrderedJson json_of(const ReplayResult& result) {
  const ReplayReport& report = result.report;
  OrderedJson out;
  out["result"] = name_of(result.kind);
  if (!result.file.empty()) out["file"] = result.file;
  if (!report.instance_id.empty()) out["run"] = report.instance_id;
  if (result.execution != 0) out["execution"] = result.execution;
  if (!report.orchestration.empty()) out["orchestration"] = report.orchestration;
  if (!report.version.empty()) out["version"] = report.version;
  if (report.events != 0) out["events"] = report.events;
  if (report.mismatch) {
    out["mismatch"] = {{"position", report.mismatch->position},
                       {"expected", report.mismatch->expected},
                       {"actual", report.mismatch->actual},
                       {"hint", report.mismatch->hint}};
  }
  if (!report.warnings.empty()) out["warnings"] = report.warnings;
  if (!result.problem.empty()) out["problem"] = result.problem;
  return out;
}

std::string to_text(const ReplayResult& result) {
  const ReplayReport& report = result.report;
  std::string text = name_of(result.kind);
  text += ":";
  if (!result.file.empty()) text += " " + result.file;
  if (!report.instance_id.empty()) text += " run '" + report.instance_id + "'";
  if (result.execution != 0) text += " execution " + std::to_string(result.execution);
  if (!report.orchestration.empty()) text += ", '" + report.orchestration + "'";
  if (!report.version.empty()) text += " version " + report.version;
  if (report.events != 0) text += ", " + std::to_string(report.events) + " events";
  if (report.mismatch) {
    text += "\n  at event " + std::to_string(report.mismatch->position) +
            "\n  history has: " + report.mismatch->expected +
            "\n  the code gives: " + report.mismatch->actual + "\n  " + report.mismatch->hint;
  }
  if (!result.problem.empty()) text += "\n  " + result.problem;
  for (const std::string& warning : report.warnings) text += "\n  warning: " + warning;
  return text;
}

}  // namespace

void ReplayPrinter::add(const ReplayResult& result) {
  ++counts_[static_cast<std::size_t>(result.kind)];
  if (!result.report.instance_id.empty()) runs_.insert(result.report.instance_id);
  out_ << (json_ ? one_line(json_of(result)) : to_text(result)) << '\n';
}

void ReplayPrinter::finish() {
  std::size_t histories = 0;
  for (const std::size_t each : counts_) histories += each;
  if (json_) {
    OrderedJson summary{{"histories", histories}, {"runs", runs_.size()}};
    for (const Kind kind : kAllKinds) summary[name_of(kind)] = count(kind);
    out_ << one_line(OrderedJson{{"summary", std::move(summary)}}) << std::endl;
    return;
  }
  out_ << histories << " histories of " << runs_.size() << " runs:";
  const char* separator = " ";
  for (const Kind kind : kAllKinds) {
    if (count(kind) == 0 && kind != Kind::kOk) continue;
    out_ << separator << count(kind) << ' ' << name_of(kind);
    separator = ", ";
  }
  out_ << std::endl;
}

int ReplayPrinter::exit_code() const {
  if (count(Kind::kMismatch) + count(Kind::kUnserved) > 0) return kExitNo;
  return count(Kind::kUnreadable) > 0 ? kExitStore : kExitDone;
}

}  // namespace perdure::cli
