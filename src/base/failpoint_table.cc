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
      FailpointInfo{"sqlite.migrate.step", "behind each step of a schema migration"},
      FailpointInfo{"sqlite.register.locked", "registering a process, the write lock is held"},
      // Who is first: passed inside the transaction, in the order in which the store decides,
      // before a request is looked at. Also by those that are refused then.
      FailpointInfo{"store.cancel", "a client cancels a run"},
      FailpointInfo{"store.terminate", "a client terminates a run"},
      FailpointInfo{"store.delete", "a client deletes an instance"},
      FailpointInfo{"store.claim", "a worker claims work"},
      FailpointInfo{"store.complete", "a worker settles a call as completed"},
      FailpointInfo{"store.fail", "a worker settles a call as failed"},
      FailpointInfo{"store.retry", "a worker settles an attempt as failed, to be made again later"},
      FailpointInfo{"store.stopped", "a worker settles a call as canceled"},
      FailpointInfo{"store.give_back", "a worker gives a call back"},
      FailpointInfo{"store.renew", "a worker renews claims"},
      FailpointInfo{"store.check", "a worker reads what became of claims; no transaction to write"},
      FailpointInfo{"store.call_timeout", "a sweep, calls whose time is over have not been failed"},
      FailpointInfo{"store.lease_sweep", "a sweep, lapsed claims have not been freed"},
      FailpointInfo{"store.fetch", "instances are locked, due timers fire"},
      FailpointInfo{"store.ack", "a turn is committed"},
      FailpointInfo{"store.child_start", "a turn that starts a child is committed"},
      FailpointInfo{"store.continue_as_new", "a turn that continues as new is committed"},
      FailpointInfo{"store.drop",
                    "a turn that gives up calls, as a select its losers, is committed"},
      FailpointInfo{"store.take_over", "a process that is taken for dead is ended by another"},
      FailpointInfo{"store.release", "a process that shuts down ends its registration"},
      // The same for what the runtime decides.
      FailpointInfo{"runtime.handler_returned",
                    "a handler has returned, its attempt is not settled"},
      FailpointInfo{"runtime.shutdown", "handlers still run at the end, they are not told to stop"},
      FailpointInfo{"runtime.call_timeout", "an attempt took too long, it is not settled"},
      FailpointInfo{"runtime.grace_over",
                    "a handler was told to stop and has not returned, it is not given up"},
  };
  return kTable;
}

}  // namespace perdure
