#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "provider/sqlite/connection.h"

namespace perdure::sqlite {

/// Read-only connections to a file, so that readers do not wait for the writer. Threading: any.
class Readers {
 public:
  explicit Readers(std::string path) : path_(std::move(path)) {}

  /// A connection of one caller, given back when it goes.
  class Lease {
   public:
    Lease(Readers& home, std::unique_ptr<Connection> connection)
        : home_(home), connection_(std::move(connection)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease();
    Connection& operator*() { return *connection_; }

   private:
    Readers& home_;
    std::unique_ptr<Connection> connection_;
  };

  /// Throws SqliteError when none is idle and none can be opened.
  Lease borrow();

 private:
  const std::string path_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;  // guarded by mutex_
};

}  // namespace perdure::sqlite
