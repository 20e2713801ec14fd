#include <array>

#include "base/failpoint.h"

namespace perdure {

std::span<const FailpointInfo> failpoint_table() {
  static constexpr std::array kTable = {
      FailpointInfo{"sqlite.begin.before", "a group is collected, no transaction is open"},
      FailpointInfo{"sqlite.begin.after", "the transaction is open, nothing is written in it"},
      FailpointInfo{"sqlite.entry.before", "before each entry of a group"},
      FailpointInfo{"sqlite.entry.after", "after each entry of a group, not committed"},
      FailpointInfo{"sqlite.commit.before", "all entries are written, not committed"},
      FailpointInfo{"sqlite.commit.after", "the group is committed, nobody knows yet"},
      FailpointInfo{"sqlite.answer.before", "the group is committed, no completion has run"},
      FailpointInfo{"sqlite.look.before", "a commit failed, its outcome has not been looked at"},
      FailpointInfo{"sqlite.look.seen", "the outcome is read, and not yet made final"},
      FailpointInfo{"sqlite.look.after", "the outcome is final, nobody knows yet"},
      FailpointInfo{"sqlite.checkpoint.before", "the log is long, nothing of it is copied"},
      FailpointInfo{"sqlite.checkpoint.restart", "the log is copied, it has not begun anew"},
      FailpointInfo{"sqlite.checkpoint.after",
                    "the log is copied, and begun anew if it was too long"},
      FailpointInfo{"sqlite.migrate.step", "between two steps of a schema migration"},
      FailpointInfo{"sqlite.register.locked", "registering a process, the write lock is held"},
  };
  return kTable;
}

}  // namespace perdure
