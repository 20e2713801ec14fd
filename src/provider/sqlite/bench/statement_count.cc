#include "provider/sqlite/bench/statement_count.h"

#include <array>
#include <atomic>
#include <string_view>

#include <sqlite3.h>

#include "base/check.h"

namespace perdure::sqlite {

namespace {

// SQLite gives the hook of new connections no pointer to carry.
std::atomic<std::int64_t> counted{0};

bool looks_at_tables(std::string_view sql) {
  constexpr std::array<std::string_view, 7> kOthers{
      "PRAGMA", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "--"};
  for (const std::string_view word : kOthers) {
    if (sql.substr(0, word.size()) == word) return false;
  }
  return true;
}

int on_statement(unsigned, void*, void*, void* text) {
  if (looks_at_tables(static_cast<const char*>(text))) ++counted;
  return 0;
}

int on_open(sqlite3* db, const char**, const struct sqlite3_api_routines*) {
  return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, on_statement, nullptr);
}

/// SQLite declares the hook without its parameters.
auto hook() {
  return reinterpret_cast<void (*)()>(on_open);
}

}  // namespace

StatementCount::StatementCount() {
  counted = 0;
  const int result = sqlite3_auto_extension(hook());
  PERDURE_CHECK(result == SQLITE_OK, "SQLite takes no hook for new connections");
}

StatementCount::~StatementCount() {
  sqlite3_cancel_auto_extension(hook());
}

std::int64_t StatementCount::count() const {
  return counted;
}

}  // namespace perdure::sqlite
