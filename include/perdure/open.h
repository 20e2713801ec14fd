#pragma once

#include <memory>
#include <string>

namespace perdure {

/// A store: where runs, their histories and their work are. Shared by the clients and runtimes of a
/// program. Opaque here.
class Provider;

/// Opens the store behind a URL and brings its schema up to date:
///
///     sqlite:PATH                      a file, made when it is missing in a folder that exists
///     sqlite:PATH?durability=relaxed   the last commits may be lost with the power (default: full)
///     sqlite::memory:                  gone with the last one who holds it
///
/// Throws InvalidArgument (an unknown scheme or parameter, no such folder, no database of ours) or
/// Unavailable; nothing was created or changed then.
std::shared_ptr<Provider> open(const std::string& url);

}  // namespace perdure
