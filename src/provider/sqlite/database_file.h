#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace perdure::sqlite {

struct DatabaseLocation {
  bool memory = false;
  /// ":memory:", or an absolute path without symbolic links, so that all processes that use the
  /// file name it, and what lies beside it, alike.
  std::string path;
};

/// The type of the file system (`f_type` of statfs) that holds a folder; 0 when it is not known.
using FileSystemType = std::function<std::uint32_t(const std::string& folder)>;

/// Whether a store can be opened or created at `path`; looks only, creates and changes nothing.
///
/// InvalidArgument: empty, a missing folder, a folder, no regular file, a network file system (its
/// locks and shared memory lose data). Unavailable: missing rights. Each message names the path and
/// what to do. The file itself is never opened: closing any descriptor of it would drop the locks
/// that SQLite holds in this process, and with them committed data.
Result<DatabaseLocation> check_location(const std::string& path);

/// The same with another view of file systems.
Result<DatabaseLocation> check_location(const std::string& path, const FileSystemType& type_of);

}  // namespace perdure::sqlite
