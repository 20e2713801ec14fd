#include "provider/sqlite/database_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "provider/sqlite/connection.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite {
namespace {

namespace fs = std::filesystem;

class DatabaseFile : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(listing(), before_) << "looking has changed something";
    // Folders without rights could not be removed by an ordinary user.
    for (const auto& entry : fs::directory_iterator(dir_.path())) {
      if (entry.is_directory()) fs::permissions(entry.path(), fs::perms::owner_all);
    }
  }

  std::string make_file(const std::string& name, const std::string& content) {
    std::ofstream(dir_.file(name), std::ios::binary) << content;
    return dir_.file(name);
  }
  std::string make_database(const std::string& name) {
    Connection::open(dir_.file(name), Access::kReadWrite)->exec("CREATE TABLE t (x)");
    return dir_.file(name);
  }

  /// Called when everything stands: from here on the folder must not change.
  void freeze() { before_ = listing(); }

  std::vector<std::string> listing() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(dir_.path())) {
      all.push_back(entry.path().filename().string() + " " +
                    (entry.is_regular_file() ? std::to_string(entry.file_size()) : ""));
    }
    std::ranges::sort(all);
    return all;
  }

  /// Checks that the path is refused with this code, by a message that names it and holds `words`.
  void expect_refused(const std::string& path, ErrorCode code, const std::string& words) {
    const auto location = check_location(path);
    ASSERT_FALSE(location.ok()) << path;
    EXPECT_EQ(location.code(), code) << location;
    EXPECT_NE(location.error().message.find(path), std::string::npos) << location;
    EXPECT_NE(location.error().message.find(words), std::string::npos) << location;
  }

  /// The answer of `check_location` to a user who is not the administrator: "ok", or the error.
  std::string ask_as_nobody(const std::string& path) {
    std::array<int, 2> pipe{};
    EXPECT_EQ(::pipe(pipe.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      constexpr uid_t kNobody = 65534;
      const bool changed = ::geteuid() != 0 || (::setgid(kNobody) == 0 && ::setuid(kNobody) == 0);
      std::ostringstream answer;
      if (changed) {
        const auto location = check_location(path);
        answer << location;
      }
      const std::string text = answer.str();
      static_cast<void>(::write(pipe[1], text.data(), text.size()) > 0);
      ::_exit(0);
    }
    ::close(pipe[1]);
    std::array<char, 4096> buffer{};
    const ssize_t size = ::read(pipe[0], buffer.data(), buffer.size());
    ::close(pipe[0]);
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }

  void expect_no_right(const std::string& path, const std::string& words) {
    const std::string answer = ask_as_nobody(path);
    EXPECT_TRUE(answer.starts_with("Unavailable: ")) << answer;
    EXPECT_NE(answer.find(path), std::string::npos) << answer;
    EXPECT_NE(answer.find(words), std::string::npos) << answer;
  }

  support::TempDir dir_;
  std::vector<std::string> before_;
};

TEST_F(DatabaseFile, MayBeMissingInAFolderThatExists) {
  const auto location = check_location(dir_.file("new.db"));
  ASSERT_TRUE(location.ok()) << location;
  EXPECT_FALSE(location->memory);
  EXPECT_EQ(location->path, (fs::canonical(dir_.path()) / "new.db").string());
}

TEST_F(DatabaseFile, MayBeADatabaseOrEmpty) {
  const std::string database = make_database("old.db");
  const std::string empty = make_file("empty.db", "");
  freeze();
  EXPECT_TRUE(check_location(database).ok());
  EXPECT_TRUE(check_location(empty).ok());
}

TEST_F(DatabaseFile, InMemoryNeedsNoFile) {
  const auto location = check_location(":memory:");
  ASSERT_TRUE(location.ok());
  EXPECT_TRUE(location->memory);
  EXPECT_EQ(location->path, ":memory:");
}

TEST_F(DatabaseFile, HasOnePathHoweverItIsNamed) {
  const std::string database = make_database("real.db");
  fs::create_symlink(database, dir_.path() / "link.db");
  fs::create_directory(dir_.path() / "sub");
  freeze();
  const std::string expected = fs::canonical(database).string();
  for (const std::string& name : {dir_.file("link.db"),
                                  dir_.file("sub/../real.db"),
                                  dir_.file("./real.db"),
                                  fs::relative(database).string()}) {
    const auto location = check_location(name);
    ASSERT_TRUE(location.ok()) << location;
    EXPECT_EQ(location->path, expected);
  }
  EXPECT_EQ(check_location(dir_.file("sub/../new.db")).value().path,
            (fs::canonical(dir_.path()) / "new.db").string());
}

TEST_F(DatabaseFile, NeedsAPath) {
  expect_refused("", ErrorCode::kInvalidArgument, "empty");
  EXPECT_EQ(check_location(std::string("a\0b", 3)).code(), ErrorCode::kInvalidArgument);
  expect_refused("file:" + dir_.file("db"), ErrorCode::kInvalidArgument, "plain path");
}

TEST_F(DatabaseFile, NeedsAFolderThatExists) {
  make_file("file", "x");
  freeze();
  expect_refused(dir_.file("missing/db"), ErrorCode::kInvalidArgument, "create it first");
  expect_refused(dir_.file("file/db"), ErrorCode::kInvalidArgument, "is not a folder");
}

TEST_F(DatabaseFile, IsNoFolderAndNoSpecialFile) {
  fs::create_directory(dir_.path() / "sub");
  ASSERT_EQ(::mkfifo(dir_.file("fifo").c_str(), 0644), 0);
  fs::create_symlink("nowhere", dir_.path() / "dangling");
  freeze();
  expect_refused(dir_.file("sub"), ErrorCode::kInvalidArgument, "this is a folder");
  expect_refused(dir_.file("sub/"), ErrorCode::kInvalidArgument, "this is a folder");
  expect_refused(dir_.file("fifo"), ErrorCode::kInvalidArgument, "not a regular file");
  expect_refused(dir_.file("dangling"), ErrorCode::kInvalidArgument, "symbolic link");
}

TEST_F(DatabaseFile, NeedsTheRightToReadAndWriteIt) {
  fs::permissions(dir_.path(), fs::perms::all);
  const std::string unwritable = make_database("unwritable.db");
  fs::permissions(unwritable, fs::perms::owner_read | fs::perms::others_read);
  const std::string unreadable = make_database("unreadable.db");
  fs::permissions(unreadable, fs::perms::none);
  const std::string open = make_database("open.db");
  fs::permissions(open, fs::perms::all);
  freeze();
  expect_no_right(unwritable, "read and write");
  expect_no_right(unreadable, "read and write");
  EXPECT_EQ(ask_as_nobody(open), "ok");
}

TEST_F(DatabaseFile, NeedsTheRightToCreateFilesBesideIt) {
  fs::permissions(dir_.path(), fs::perms::all);
  fs::create_directory(dir_.path() / "closed");
  const std::string database = make_database("closed/old.db");
  fs::permissions(database, fs::perms::all);
  fs::permissions(dir_.path() / "closed",
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                      fs::perms::others_exec);
  fs::create_directory(dir_.path() / "locked");
  fs::permissions(dir_.path() / "locked", fs::perms::none);
  freeze();
  expect_no_right(dir_.file("closed/new.db"), "create files in");
  expect_no_right(database, "create files in");
  expect_no_right(dir_.file("locked/new.db"), "rights");
}

TEST_F(DatabaseFile, IsRefusedOnANetworkFileSystemThatTheMessageNames) {
  struct Case {
    std::uint32_t type;
    const char* name;
  };
  constexpr Case kCases[] = {
      {0x6969, "(NFS)"},
      {0x517B, "(SMB)"},
      {0xFF534D42, "(CIFS)"},
      {0xFE534D42, "(SMB2)"},
      {0x00C36400, "(Ceph)"},
      {0x01021997, "(9p)"},
      {0x65735546, "(FUSE)"},
  };
  const std::string path = dir_.file("db");
  for (const Case& expected : kCases) {
    std::string asked;
    const auto location = check_location(path, [&](const std::string& folder) {
      asked = folder;
      return expected.type;
    });
    EXPECT_EQ(asked, fs::canonical(dir_.path()).string());
    ASSERT_FALSE(location.ok()) << expected.name;
    EXPECT_EQ(location.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(location.error().message.find(path), std::string::npos) << location;
    EXPECT_NE(location.error().message.find(expected.name), std::string::npos) << location;
  }
  constexpr std::uint32_t kExt4 = 0xEF53;
  EXPECT_TRUE(check_location(path, [](const std::string&) { return kExt4; }).ok());
}

}  // namespace
}  // namespace perdure::sqlite
