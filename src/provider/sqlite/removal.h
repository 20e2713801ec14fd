#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "model/work_item.h"
#include "provider/sqlite/writer.h"

namespace perdure::sqlite {

/// Takes instances and executions out of the store, in portions.
///
/// What others could see or run goes at once; what nobody can reach any more (and descendants) is
/// stored as a removal and goes as far as the limit allows, the rest by a later one. Descendants
/// come before history, so that a forced delete fences live runs as early as it can.
/// Requires: an open write transaction, for the whole life of the object.
class Remover {
 public:
  /// `limit`: rows to change, about.
  Remover(WriteContext& context, std::int64_t limit);

  /// Deletes an instance; its descendants, history and executions become a removal. Without
  /// `forced` a live descendant is let go: it becomes a root.
  void delete_instance(InstanceKey key, ExecutionNo current, bool forced);

  /// Deletes an ended execution; its history becomes a removal. False when the limit was reached
  /// before: the execution is still there, and the call is to be repeated.
  bool delete_execution(InstanceKey key, ExecutionNo execution);

  /// Carries on what this object has begun. False when the limit was reached before the end: those
  /// who wait to carry on are woken by the commit.
  bool carry_on();
  /// Carries on whatever is stored. False when something is left.
  bool carry_on_stored();

  bool exhausted() const { return left() <= 0; }
  std::int64_t left() const;

  std::int64_t instances = 0;  ///< deleted
  std::int64_t events = 0;     ///< history rows deleted
  std::vector<TouchedClaim> touched;
  std::vector<Error> problems;  ///< stored removals that cannot be read: left as they are

 private:
  struct Deleted {
    InstanceKey key;
    bool forced = false;
  };
  struct Rows {
    InstanceKey key;
    ExecutionNo execution;  ///< 0: all of them
  };

  void remove_work(InstanceKey key, std::optional<ExecutionNo> execution);
  void announce(InstanceKey key, ExecutionNo current);
  bool go_on();
  bool descend(const Deleted& deleted);
  bool purge(const Rows& rows);
  void load_stored();
  void name_damaged();

  WriteContext& context_;
  const std::int64_t stop_at_;  // total changes of the connection
  std::deque<Deleted> to_descend_;
  std::deque<Rows> to_purge_;
};

}  // namespace perdure::sqlite
