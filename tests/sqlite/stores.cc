#include <stdexcept>

#include "base/clock.h"
#include "provider/sqlite/options.h"
#include "provider/sqlite/sqlite_provider.h"
#include "tests/conformance/store_under_test.h"
#include "tests/sqlite/damage.h"
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

class SqliteStore : public StoreUnderTest {
 public:
  SqliteStore(std::string path, bool thread)
      : path_(std::move(path)), provider_(open_or_throw(path_, clock_, thread)) {}

  Provider& provider() override { return *provider_; }
  void advance(Duration step) override { clock_.advance(step); }
  std::unique_ptr<Provider> second_provider() override { return nullptr; }
  std::unique_ptr<Peer> second_process() override { return nullptr; }

  bool corrupt(const RowRef& row) override {
    const auto statement = damage(row);
    if (!statement) return false;
    const Status done = dynamic_cast<sqlite::SqliteProvider&>(*provider_).run_sql(*statement);
    if (!done.ok()) throw std::runtime_error(done.error().message);
    return true;
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
