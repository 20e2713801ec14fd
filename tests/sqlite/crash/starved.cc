#include "tests/sqlite/crash/starved.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sys/resource.h>

#include "tests/sqlite/crash/group.h"

namespace perdure::sqlite::crash {

namespace {

/// No file of the process may grow beyond so many bytes, in the life of this object.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    // Without this the process is ended instead of the write.
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limited = before_;
    limited.rlim_cur = bytes;
    if (::setrlimit(RLIMIT_FSIZE, &limited) != 0) throw std::runtime_error("setrlimit");
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

bool is_there(Provider& store, const std::string& id) {
  const auto found = store.get_instance(id);
  if (!found.ok() && found.code() != ErrorCode::kNotFound) expect_ok(status_of(found), "look");
  return found.ok();
}

void expect_promise_kept(Provider& store,
                         const std::string& id,
                         const std::optional<ErrorCode>& answer) {
  const bool there = is_there(store, id);
  if (!answer && !there) throw std::runtime_error(id + " is not there");
  if (answer == ErrorCode::kUnavailable && there) throw std::runtime_error(id + " is there");
  if (answer && answer != ErrorCode::kUnavailable && answer != ErrorCode::kCommitUnknown) {
    throw std::runtime_error(id + ": " + std::string(to_string(*answer)));
  }
}

}  // namespace

void write_with_a_file_size_limit(const std::string& path) {
  VirtualClock clock;
  Options options;
  options.path = path;
  options.clock = &clock;
  options.writer_thread = false;
  const auto store = value_of(open(options), "open");

  GroupOfStarts group;
  group.add("first", "1");
  group.add("great", std::string(4 << 20, 'x'));
  group.add("last", "2");
  {
    const auto size =
        std::max(std::filesystem::file_size(path), std::filesystem::file_size(path + "-wal"));
    const FileSizeLimit limit(size + (1 << 20));
    const auto answers = group.write(*store);
    if (!answers.at("great")) throw std::runtime_error("the limit limits nothing");
    for (const auto& [id, answer] : answers) expect_promise_kept(*store, id, answer);
    // What fits is written, while the rest is still refused.
    GroupOfStarts small;
    small.add("small", "3");
    if (small.write(*store).at("small")) throw std::runtime_error("small is refused");
  }
  // The same again, as callers do who do not know: each is there once.
  for (const auto& [id, answer] : group.write(*store)) {
    if (answer) throw std::runtime_error(id + " is refused although there is room");
    expect_promise_kept(*store, id, answer);
  }
}

}  // namespace perdure::sqlite::crash
