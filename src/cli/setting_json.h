#pragma once

#include "cli/run_json.h"
#include "runtime/settings.h"

namespace perdure::cli {

/// A setting for programs: every field is always there, what a setting does not have is null. Times
/// are numbers of milliseconds. docs/cli.md lists the fields. Pure.
OrderedJson to_json(const runtime::Setting& setting);

}  // namespace perdure::cli
