#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <perdure/run_list.h>
#include <perdure/run_status.h>

/// Runs as text for people: printable whatever the store holds, long values shortened.
namespace perdure::cli {

/// Name and version.
std::string code_of(const RunSummary& run);
/// "running"; "?" when the row cannot be read.
std::string status_of(const RunSummary& run);
/// What stands in its way or is wrong with it; empty when nothing is.
std::string note_on(const RunSummary& run);

/// One field to a line, those that the run has.
void print_status(std::ostream& out, const RunStatus& status, TimePoint now);
/// A table, one run to a line.
void print_runs(std::ostream& out, const std::vector<RunSummary>& runs, TimePoint now);
/// Children below their parents.
void print_tree(std::ostream& out, const RunTree& tree, TimePoint now);

}  // namespace perdure::cli
