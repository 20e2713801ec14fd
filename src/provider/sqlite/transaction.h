#pragma once

#include "provider/sqlite/connection.h"

namespace perdure::sqlite {

/// A write transaction: takes the write lock at once, so that no later statement can fail for it.
/// Rolled back when destroyed uncommitted. Must not outlive its connection.
class Transaction {
 public:
  /// BEGIN IMMEDIATE. Throws SqliteError (busy: another connection writes).
  explicit Transaction(Connection& db);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  /// SQLite itself may have ended the transaction (a full disk does); then there is nothing to do.
  ~Transaction();

  /// Throws SqliteError. After a busy failure the transaction stands and may be committed again;
  /// after any other it is unknown whether it was committed.
  void commit();

 private:
  Connection& db_;
  bool committed_ = false;
};

/// A part of an open transaction that can be undone by itself; undone unless it is kept.
class Savepoint {
 public:
  explicit Savepoint(Connection& db);
  Savepoint(const Savepoint&) = delete;
  Savepoint& operator=(const Savepoint&) = delete;
  /// SQLite itself may have ended the transaction; then there is nothing to do.
  ~Savepoint();

  void keep();

 private:
  Connection& db_;
  bool kept_ = false;
};

}  // namespace perdure::sqlite
