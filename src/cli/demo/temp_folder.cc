#include "cli/demo/temp_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

namespace perdure::demo {

TempFolder::TempFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) {
    throw std::runtime_error("there is no folder for temporary files (" + error.message() +
                             "): set TMPDIR to one that exists");
  }
  std::string name = (parent / "perdure-demo-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("no folder can be made in " + parent.string() + " (" +
                             std::strerror(errno) + "): set TMPDIR to one that can be written");
  }
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  if (!keep_) std::filesystem::remove_all(path_, ignored);
}

}  // namespace perdure::demo
