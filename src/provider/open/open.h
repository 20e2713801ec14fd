#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "provider/provider.h"

namespace perdure {

/// Opens the store behind a URL:
///   sqlite:PATH                      a file, made when it is missing in a folder that exists
///   sqlite:PATH?durability=relaxed   the last commits may be lost with the power (default: full)
///   sqlite::memory:                  gone with the provider
/// InvalidArgument for an unknown scheme or parameter, naming it and what is known; otherwise the
/// errors of the store. On an error nothing was created or changed. `clock` must outlive the
/// answer.
Result<std::unique_ptr<Provider>> open_provider(const std::string& url,
                                                Clock& clock = system_clock());

/// Opens a store that exists to look at it: nothing is made, written or brought up to date. Also
/// InvalidArgument: there is none, or its schema is not the one that this program knows.
Result<std::unique_ptr<Provider>> open_provider_for_reading(const std::string& url,
                                                            Clock& clock = system_clock());

}  // namespace perdure
