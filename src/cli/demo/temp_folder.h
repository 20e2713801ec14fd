#pragma once

#include <filesystem>

namespace perdure::demo {

/// A fresh folder in the one for temporary files, removed with all that lies in it unless it is
/// kept. Only its owner can look inside.
class TempFolder {
 public:
  /// Throws std::runtime_error that says what to do.
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();

  const std::filesystem::path& path() const { return path_; }
  void keep() { keep_ = true; }

 private:
  std::filesystem::path path_;
  bool keep_ = false;
};

}  // namespace perdure::demo
