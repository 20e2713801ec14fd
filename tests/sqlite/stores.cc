#include <stdexcept>

#include "base/clock.h"
#include "provider/sqlite/options.h"
#include "provider/sqlite/sqlite_provider.h"
#include "tests/conformance/store_under_test.h"
#include "tests/support/temp_dir.h"

/// SQLite for the conformance suite: a file with a writer thread, and a store in memory that its
/// callers drive, so that both ways of writing are held to every rule.
namespace perdure::conformance {

namespace {

std::unique_ptr<Provider> open_or_throw(const std::string& path, Clock& clock, bool thread) {
  sqlite::Options options;
  options.path = path;
  options.clock = &clock;
  options.writer_thread = thread;
  auto provider = sqlite::open(options);
  if (!provider.ok()) throw std::runtime_error(provider.error().message);
  return std::move(provider).value();
}

/// A code that no version knows.
std::string damage(const RowRef& row) {
  const std::string key = std::to_string(row.instance.value);
  switch (row.table) {
    case RowRef::Table::kHistory:
      return "UPDATE history SET kind = 999 WHERE instance_key = " + key +
             " AND event_id = " + std::to_string(row.event.value);
    case RowRef::Table::kMessage:
      return "UPDATE orchestrator_queue SET kind = 999 WHERE message_id = (SELECT min(message_id) "
             "FROM orchestrator_queue WHERE instance_key = " +
             key + ")";
    case RowRef::Table::kWork:
      return "UPDATE worker_queue SET on_cancel = 999 WHERE work_id = " +
             std::to_string(row.work.value);
    case RowRef::Table::kExecution:
      return "UPDATE executions SET status = 999 WHERE instance_key = " + key +
             " AND execution = (SELECT current_execution FROM instances WHERE instance_key = " +
             key + ")";
  }
  throw std::runtime_error("unknown table");
}

class SqliteStore : public StoreUnderTest {
 public:
  SqliteStore(std::string path, bool thread)
      : path_(std::move(path)), provider_(open_or_throw(path_, clock_, thread)) {}

  Provider& provider() override { return *provider_; }
  void advance(Duration step) override { clock_.advance(step); }
  std::unique_ptr<Provider> second_provider() override { return nullptr; }
  std::unique_ptr<Peer> second_process() override { return nullptr; }

  void corrupt(const RowRef& row) override {
    const Status done = dynamic_cast<sqlite::SqliteProvider&>(*provider_).run_sql(damage(row));
    if (!done.ok()) throw std::runtime_error(done.error().message);
  }

 protected:
  const std::string path_;
  VirtualClock clock_;

 private:
  std::unique_ptr<Provider> provider_;
};

struct Folder {
  support::TempDir folder;
};

/// The folder is a base, so that it goes after the provider.
class FileStore : private Folder, public SqliteStore {
 public:
  FileStore() : SqliteStore(folder.file("store.db"), true) {}

  std::unique_ptr<Provider> second_provider() override {
    return open_or_throw(path_, clock_, true);
  }
  std::unique_ptr<Peer> second_process() override {
    return Peer::spawn(PERDURE_PEER, path_, clock_.now());
  }
};

}  // namespace

std::vector<StoreParam> stores() {
  return {
      {.name = "file", .make = [] { return std::make_unique<FileStore>(); }, .shared = true},
      {.name = "memory",
       .make = [] { return std::make_unique<SqliteStore>(":memory:", false); },
       .shared = false},
  };
}

}  // namespace perdure::conformance
