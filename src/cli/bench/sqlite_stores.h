#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/bench/options.h"
#include "provider/provider.h"
#include "provider/sqlite/options.h"

namespace perdure::bench {

/// The SQLite files of a bench: the one that the URL names and others beside it. Only files that do
/// not exist are used, so that no store of somebody is written into; all of them are removed when
/// this object goes, unless they shall be kept.
class SqliteStores {
 public:
  /// InvalidArgument for a URL that names no file of SQLite.
  static Result<std::unique_ptr<SqliteStores>> make(const Options& options);

  SqliteStores(const SqliteStores&) = delete;
  SqliteStores& operator=(const SqliteStores&) = delete;
  /// All stores must be closed.
  ~SqliteStores();

  sqlite::Durability durability() const { return durability_; }

  /// The path of a store that is to be made: the URL's with the suffix. InvalidArgument when it
  /// exists.
  Result<std::string> reserve(const std::string& suffix);
  /// Of one that was reserved, with the durability that was asked for.
  std::string url(const std::string& path) const;
  /// Opens one that was reserved, by its URL.
  Result<std::unique_ptr<Provider>> open(const std::string& path) const;
  /// Removes one that was reserved (unless it shall be kept), to make room.
  void drop(const std::string& path);

 private:
  SqliteStores(std::string path, sqlite::Durability durability, bool keep)
      : path_(std::move(path)), durability_(durability), keep_(keep) {}

  const std::string path_;
  const sqlite::Durability durability_;
  const bool keep_;
  std::vector<std::string> reserved_;
};

}  // namespace perdure::bench
