#include "provider/sqlite/database_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>

namespace perdure::sqlite {

namespace {

constexpr std::string_view kMemory = ":memory:";

struct NetworkFileSystem {
  std::uint32_t type;
  std::string_view name;
};

// Numbers of statfs(2). On all of these either locks or shared memory between machines, or between
// a machine and its guest, are missing or forgetful.
constexpr std::array kNetworkFileSystems = {
    NetworkFileSystem{0x00006969, "NFS"},
    NetworkFileSystem{0x0000517B, "SMB"},
    NetworkFileSystem{0xFF534D42, "CIFS"},
    NetworkFileSystem{0xFE534D42, "SMB2"},
    NetworkFileSystem{0x00C36400, "Ceph"},
    NetworkFileSystem{0x01021997, "9p"},
    NetworkFileSystem{0x65735546, "FUSE"},
    NetworkFileSystem{0x5346414F, "AFS"},
    NetworkFileSystem{0x73757245, "Coda"},
    NetworkFileSystem{0x0000564C, "NCP"},
    NetworkFileSystem{0x0BD00BD0, "Lustre"},
    NetworkFileSystem{0x47504653, "GPFS"},
    NetworkFileSystem{0x19830326, "BeeGFS"},
    NetworkFileSystem{0x01161970, "GFS2"},
    NetworkFileSystem{0x7461636F, "OCFS2"},
    NetworkFileSystem{0x786F4256, "vboxsf"},
    NetworkFileSystem{0xBACBACBC, "VMware shared folder"},
};

std::uint32_t type_of_folder(const std::string& folder) {
  struct statfs info {};
  if (::statfs(folder.c_str(), &info) != 0) return 0;
  return static_cast<std::uint32_t>(info.f_type);
}

std::string quoted(const std::string& path) {
  return "\"" + path + "\"";
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

/// The error of a system call about a path: missing rights may be given later, the rest is wrong.
Error failed_look(const std::string& path, const std::string& what, int error) {
  const std::string message = "database " + quoted(path) + ": " + what + ": " + reason(error);
  if (error == EACCES || error == EPERM) {
    return unavailable(message + "; give this user the rights or choose another path");
  }
  return invalid_argument(message + "; choose another path");
}

std::optional<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr),
                                                             &std::free);
  if (resolved == nullptr) return std::nullopt;
  return std::string(resolved.get());
}

struct Parts {
  std::string folder;
  std::string name;
};

Parts split(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

Status check_text(const std::string& path) {
  if (path.empty()) {
    return invalid_argument("the path of the database is empty; name a file or \":memory:\"");
  }
  if (path.find('\0') != std::string::npos) {
    return invalid_argument("the path of the database contains a NUL byte; name a file");
  }
  if (path.starts_with("file:")) {
    return invalid_argument("database " + quoted(path) + ": a URI; give a plain path");
  }
  return {};
}

Status check_folder(const std::string& path, const std::string& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) {
    if (errno == ENOENT) {
      return invalid_argument("database " + quoted(path) + ": the folder " + quoted(folder) +
                              " does not exist; create it first");
    }
    return failed_look(path, "the folder " + quoted(folder) + " cannot be reached", errno);
  }
  if (!S_ISDIR(info.st_mode)) {
    return invalid_argument("database " + quoted(path) + ": " + quoted(folder) +
                            " is not a folder; choose another path");
  }
  return {};
}

Status check_rights(const std::string& path, const std::string& what, int mode) {
  if (::faccessat(AT_FDCWD, what.c_str(), mode, AT_EACCESS) == 0) return {};
  return unavailable("database " + quoted(path) + ": no right to " +
                     ((mode & R_OK) != 0 ? "read and write " : "create files in ") + quoted(what) +
                     " (" + reason(errno) + "); give this user the rights or choose another path");
}

Status check_file_system(const std::string& path,
                         const std::string& folder,
                         const FileSystemType& type_of) {
  const std::uint32_t type = type_of(folder);
  const auto* const found = std::ranges::find(kNetworkFileSystems, type, &NetworkFileSystem::type);
  if (found == kNetworkFileSystems.end()) return {};
  return invalid_argument("database " + quoted(path) + ": the folder " + quoted(folder) +
                          " lies on a network file system (" + std::string(found->name) +
                          "), where SQLite loses data; choose a path on a local disk");
}

/// The file when it exists; nullopt when it can be created.
Result<std::optional<std::string>> find_file(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) {
      return invalid_argument("database " + quoted(path) + ": this is a folder; name a file in it");
    }
    if (!S_ISREG(info.st_mode)) {
      return invalid_argument("database " + quoted(path) +
                              ": this is not a regular file; choose another path");
    }
    auto resolved = real_path(path);
    if (!resolved) return failed_look(path, "its path cannot be resolved", errno);
    return resolved;
  }
  if (errno != ENOENT) return failed_look(path, "it cannot be reached", errno);
  if (::lstat(path.c_str(), &info) == 0) {
    // Another process has made it between the two looks.
    if (!S_ISLNK(info.st_mode)) return find_file(path);
    return invalid_argument(
        "database " + quoted(path) +
        ": a symbolic link to a file that does not exist; name the file itself");
  }
  return std::optional<std::string>{};
}

}  // namespace

Result<DatabaseLocation> check_location(const std::string& path) {
  return check_location(path, type_of_folder);
}

Result<DatabaseLocation> check_location(const std::string& path, const FileSystemType& type_of) {
  PERDURE_RETURN_IF_ERROR(check_text(path));
  if (path == kMemory) return DatabaseLocation{.memory = true, .path = path};

  PERDURE_RETURN_IF_ERROR(check_folder(path, split(path).folder));
  PERDURE_ASSIGN_OR_RETURN(const std::optional<std::string> file, find_file(path));
  std::string resolved;
  if (file.has_value()) {
    resolved = *file;
  } else {
    const auto folder = real_path(split(path).folder);
    if (!folder) return failed_look(path, "its folder cannot be resolved", errno);
    resolved = (*folder == "/" ? "" : *folder) + "/" + split(path).name;
  }

  const std::string folder = split(resolved).folder;
  PERDURE_RETURN_IF_ERROR(check_file_system(path, folder, type_of));
  // Also for a file that exists: SQLite's journals and the locks of processes lie beside it.
  PERDURE_RETURN_IF_ERROR(check_rights(path, folder, W_OK | X_OK));
  if (file.has_value()) {
    PERDURE_RETURN_IF_ERROR(check_rights(path, *file, R_OK | W_OK));
  }
  return DatabaseLocation{.memory = false, .path = std::move(resolved)};
}

}  // namespace perdure::sqlite
