#include "provider/sqlite/transaction.h"

#include "base/log.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

Transaction::Transaction(Connection& db) : db_(db) {
  db_.exec("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (committed_ || !db_.in_transaction()) return;
  try {
    db_.exec("ROLLBACK");
  } catch (const SqliteError& error) {
    // What was written is not committed either way; the connection tells at its next use.
    log::error("a transaction could not be rolled back", {{"error", error.what()}});
  }
}

void Transaction::commit() {
  db_.exec("COMMIT");
  committed_ = true;
}

Savepoint::Savepoint(Connection& db) : db_(db) {
  db_.exec("SAVEPOINT part");
}

Savepoint::~Savepoint() {
  if (kept_ || !db_.in_transaction()) return;
  try {
    db_.exec("ROLLBACK TO part; RELEASE part");
  } catch (const SqliteError& error) {
    log::error("a part of a transaction could not be undone", {{"error", error.what()}});
  }
}

void Savepoint::keep() {
  db_.exec("RELEASE part");
  kept_ = true;
}

}  // namespace perdure::sqlite
