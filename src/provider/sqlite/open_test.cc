#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "provider/sqlite/connection.h"
#include "provider/sqlite/migrations.h"
#include "provider/sqlite/options.h"
#include "provider/sqlite/schema.h"
#include "provider/sqlite/sqlite_provider.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite {

namespace {

namespace fs = std::filesystem;

class OpenStore : public ::testing::Test {
 protected:
  Result<std::unique_ptr<Provider>> open_at(const std::string& path) {
    Options options;
    options.path = path;
    return open(options);
  }

  static std::string content(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
  }

  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(dir_.path())) {
      all.push_back(entry.path().filename().string());
    }
    return all;
  }

  support::TempDir dir_;
};

TEST_F(OpenStore, MakesTheFileAndItsSchema) {
  const std::string path = dir_.file("new.db");
  ASSERT_TRUE(open_at(path).ok());
  auto db = Connection::open(path, Access::kReadOnly);
  EXPECT_EQ(stored_version(*db), static_cast<int>(schema_migrations().size()));
}

TEST_F(OpenStore, UsesTheWriteAheadLogAndFullDurabilityByDefault) {
  const std::string path = dir_.file("new.db");
  ASSERT_TRUE(open_at(path).ok());
  auto db = Connection::open(path, Access::kReadOnly);
  Query mode = db->query_text("PRAGMA journal_mode");
  ASSERT_TRUE(mode.next());
  EXPECT_EQ(mode.text(0), "wal");
  EXPECT_EQ(Options{}.durability, Durability::kFull);
}

TEST_F(OpenStore, WritesWithTheDurabilityThatWasAskedFor) {
  for (const auto& [durability, level] :
       {std::pair{Durability::kFull, 2}, std::pair{Durability::kRelaxed, 1}}) {
    Options options;
    options.path = dir_.file("store.db");
    options.durability = durability;
    auto provider = open(options);
    ASSERT_TRUE(provider.ok());
    // The statement fails, and so tells, when the writer's own connection is set otherwise.
    const Status same = dynamic_cast<SqliteProvider&>(**provider)
                            .run_sql("SELECT CASE WHEN synchronous = " + std::to_string(level) +
                                     " THEN 1 ELSE abs(-9223372036854775807 - 1) END "
                                     "FROM pragma_synchronous");
    EXPECT_TRUE(same.ok()) << same;
  }
}

TEST_F(OpenStore, RefusesAFolderWithoutRightsAndCreatesNothing) {
  const std::string folder = dir_.file("closed");
  fs::create_directory(folder);
  fs::permissions(dir_.path(), fs::perms::owner_all | fs::perms::others_exec);
  fs::permissions(folder, fs::perms::owner_all);
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    const bool changed = ::geteuid() != 0 || (::setgid(kNobody) == 0 && ::setuid(kNobody) == 0);
    const auto answer = open_at(folder + "/store.db");
    std::string text = !changed ? "not nobody" : answer.ok() ? "opened" : answer.error().message;
    if (!answer.ok()) text = std::string(to_string(answer.code())) + " " + text;
    static_cast<void>(::write(pipe[1], text.data(), text.size()) > 0);
    ::_exit(0);
  }
  ::close(pipe[1]);
  std::string text;
  for (char c = 0; ::read(pipe[0], &c, 1) == 1;) text += c;
  ::close(pipe[0]);
  ::waitpid(child, nullptr, 0);
  if (::geteuid() == 0) {
    EXPECT_EQ(text.find("Unavailable"), 0U) << text;
    EXPECT_NE(text.find(folder), std::string::npos) << text;
  }
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(OpenStore, RefusesAMissingFolderAndCreatesNothing) {
  const std::string path = dir_.file("missing/store.db");
  const auto answer = open_at(path);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(answer.error().message.find(dir_.file("missing")), std::string::npos);
  EXPECT_TRUE(names().empty());
}

TEST_F(OpenStore, RefusesAFileThatIsNoDatabaseAndLeavesItAlone) {
  const std::string path = dir_.file("letter.txt");
  std::ofstream(path) << "Dear reader, this is no database at all.";
  const std::string before = content(path);
  const auto answer = open_at(path);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(answer.error().message.find(path), std::string::npos);
  EXPECT_EQ(content(path), before);
  EXPECT_EQ(names().size(), 1U);
}

TEST_F(OpenStore, RefusesAFileThatIsTooShortForADatabase) {
  const std::string path = dir_.file("short");
  std::ofstream(path) << "SQLite";
  const auto answer = open_at(path);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.code(), ErrorCode::kInvalidArgument) << answer.error().message;
  EXPECT_EQ(content(path), "SQLite");
}

TEST_F(OpenStore, RefusesTheDatabaseOfAnotherProgramAndLeavesItAlone) {
  const std::string path = dir_.file("foreign.db");
  Connection::open(path, Access::kReadWrite)->exec("CREATE TABLE processes (name TEXT)");
  const std::string before = content(path);
  const auto answer = open_at(path);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(answer.error().message.find(path), std::string::npos);
  EXPECT_EQ(content(path), before);
  EXPECT_EQ(names().size(), 1U);
}

TEST_F(OpenStore, TakesAnEmptyFile) {
  const std::string path = dir_.file("empty.db");
  std::ofstream(path).close();
  EXPECT_TRUE(open_at(path).ok());
}

TEST_F(OpenStore, RefusesANewerSchemaAndLeavesItAlone) {
  const std::string path = dir_.file("newer.db");
  ASSERT_TRUE(open_at(path).ok());
  {
    auto db = Connection::open(path, Access::kReadWrite);
    db->exec("INSERT INTO schema_migrations VALUES (999, 'from the future', 0)");
    db->exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  const std::string before = content(path);
  const auto answer = open_at(path);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(answer.error().message.find("999"), std::string::npos) << answer.error().message;
  EXPECT_NE(answer.error().message.find(path), std::string::npos) << answer.error().message;
  EXPECT_EQ(content(path), before);
  EXPECT_EQ(names().size(), 1U);
}

TEST_F(OpenStore, NamesTheOptionThatIsOutOfRange) {
  Options options;
  options.path = dir_.file("store.db");
  options.foreign_poll = std::chrono::milliseconds(0);
  const auto answer = open(options);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(answer.error().message.find("foreign_poll"), std::string::npos);
  EXPECT_TRUE(names().empty());
}

TEST_F(OpenStore, WorksFromSeveralThreadsAtOnceOnANewFile) {
  const std::string path = dir_.file("new.db");
  std::array<Status, 4> opened;
  {
    std::vector<std::jthread> threads;
    for (Status& slot : opened) {
      threads.emplace_back([this, &slot, &path] {
        const auto provider = open_at(path);
        if (!provider.ok()) slot = provider.error();
      });
    }
  }
  for (const Status& status : opened) EXPECT_TRUE(status.ok()) << status;
}

TEST_F(OpenStore, KeepsWhatWasStoredWhenItIsOpenedAgain) {
  const std::string path = dir_.file("store.db");
  {
    auto provider = open_at(path);
    ASSERT_TRUE(provider.ok());
    StartOrchestration request;
    request.id = "order-1";
    request.name = "checkout";
    ASSERT_TRUE((*provider)->start_orchestration(request).ok());
  }
  auto provider = open_at(path);
  ASSERT_TRUE(provider.ok());
  EXPECT_TRUE((*provider)->get_instance("order-1").ok());
}

TEST_F(OpenStore, InMemoryLeavesNoFile) {
  auto provider = open_at(":memory:");
  ASSERT_TRUE(provider.ok());
  EXPECT_TRUE(names().empty());
  EXPECT_FALSE(fs::exists(":memory:"));
}

}  // namespace

}  // namespace perdure::sqlite
