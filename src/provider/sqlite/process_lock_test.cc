#include "provider/sqlite/process_lock.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace perdure::sqlite {
namespace {

constexpr Epoch kEpoch{7};

class ProcessLockTest : public ::testing::Test {
 protected:
  bool exists() const { return std::filesystem::exists(database_ + "-process-7"); }
  bool released() const { return ProcessLock::released(database_, kEpoch); }

  support::TempDir dir_;
  std::string database_ = dir_.file("db");
};

TEST_F(ProcessLockTest, IsHeldUntilItIsDestroyed) {
  {
    const ProcessLock lock = ProcessLock::acquire(database_, kEpoch);
    EXPECT_EQ(lock.epoch(), kEpoch);
    EXPECT_TRUE(exists());
    EXPECT_FALSE(released());
  }
  EXPECT_TRUE(exists());
  EXPECT_TRUE(released());
}

TEST_F(ProcessLockTest, CannotBeTakenTwice) {
  const ProcessLock lock = ProcessLock::acquire(database_, kEpoch);
  try {
    const ProcessLock second = ProcessLock::acquire(database_, kEpoch);
    FAIL() << "taken twice";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::operation_would_block);
  }
  EXPECT_FALSE(released());
}

TEST_F(ProcessLockTest, OfAnotherEpochIsAnotherLock) {
  const ProcessLock lock = ProcessLock::acquire(database_, kEpoch);
  const ProcessLock other = ProcessLock::acquire(database_, Epoch{8});
  EXPECT_FALSE(ProcessLock::released(database_, Epoch{8}));
}

TEST_F(ProcessLockTest, NamesTheFileThatCannotBeMade) {
  try {
    const ProcessLock lock = ProcessLock::acquire(dir_.file("missing/db"), kEpoch);
    FAIL() << "locked a file in a missing folder";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
    EXPECT_NE(std::string(error.what()).find("missing/db-process-7"), std::string::npos);
  }
}

TEST_F(ProcessLockTest, StaysHeldWhenItIsMoved) {
  ProcessLock lock = ProcessLock::acquire(database_, kEpoch);
  ProcessLock moved = std::move(lock);
  EXPECT_FALSE(released());
  moved = ProcessLock::acquire(database_, Epoch{8});
  EXPECT_TRUE(released());
}

TEST_F(ProcessLockTest, LeavesNoFileAfterAGoodbye) {
  ProcessLock lock = ProcessLock::acquire(database_, kEpoch);
  lock.release_and_remove();
  EXPECT_FALSE(exists());
  EXPECT_FALSE(released());
  lock.release_and_remove();
}

TEST_F(ProcessLockTest, IsNotReleasedWhenThereIsNoFile) {
  EXPECT_FALSE(released());
  EXPECT_FALSE(exists());
}

TEST_F(ProcessLockTest, IsNotTakenByALook) {
  { const ProcessLock lock = ProcessLock::acquire(database_, kEpoch); }
  EXPECT_TRUE(released());
  EXPECT_TRUE(released());
  EXPECT_NO_THROW(ProcessLock::acquire(database_, kEpoch));
}

TEST_F(ProcessLockTest, FileOfAnEndedProcessCanBeRemovedTwice) {
  { const ProcessLock lock = ProcessLock::acquire(database_, kEpoch); }
  ProcessLock::remove(database_, kEpoch);
  EXPECT_FALSE(exists());
  ProcessLock::remove(database_, kEpoch);
}

TEST_F(ProcessLockTest, IsReleasedByTheKernelWhenItsProcessIsKilled) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const ProcessLock lock = ProcessLock::acquire(database_, kEpoch);
    static_cast<void>(::write(pipe[1], "x", 1) == 1);
    for (;;) ::pause();
  }
  char signal = 0;
  ASSERT_EQ(::read(pipe[0], &signal, 1), 1);
  EXPECT_FALSE(released());
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(released());
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_F(ProcessLockTest, IsNotInheritedByAnotherProgram) {
  // The end of the pipe closes when the child has become the other program.
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  pid_t child = -1;
  {
    const ProcessLock lock = ProcessLock::acquire(database_, kEpoch);
    child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::execlp("sleep", "sleep", "600", nullptr);
      ::_exit(1);
    }
    ::close(pipe[1]);
    char signal = 0;
    ASSERT_EQ(::read(pipe[0], &signal, 1), 0);
  }
  EXPECT_TRUE(released());
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the other program did not start";
  ::close(pipe[0]);
}

}  // namespace
}  // namespace perdure::sqlite
