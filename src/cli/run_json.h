#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <perdure/run_list.h>
#include <perdure/run_status.h>

/// Runs as JSON for programs: fields are named as in the public headers and always there; what a
/// run does not have is null. Times are ISO 8601 in UTC. docs/cli.md lists them. Pure.
namespace perdure::cli {

/// Keeps the order in which fields were added.
using OrderedJson = nlohmann::ordered_json;

OrderedJson to_json(const RunStatus& status);
OrderedJson to_json(const RunSummary& run);
OrderedJson to_json(const std::vector<RunSummary>& runs);
OrderedJson to_json(const RunTree& tree);

/// One line; bytes of a damaged row that are no UTF-8 are replaced.
std::string one_line(const OrderedJson& json);

}  // namespace perdure::cli
