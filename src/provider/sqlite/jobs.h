#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "provider/call.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/write_job.h"
#include "provider/turn_commit.h"

/// Requests as jobs of the writer.
namespace perdure::sqlite {

/// Runs an operation. A damaged row that it met before its first write is its answer; there is
/// nothing to roll back, and the other entries of the group are not done again for it.
template <class Answer, class Operation>
Result<Answer> run_entry(WriteContext& context, const Operation& operation) {
  const std::int64_t before = context.db.total_changes();
  try {
    return operation();
  } catch (const SqliteError& error) {
    const Error answer = to_error(error);
    const bool clean = context.db.in_transaction() && context.db.total_changes() == before;
    if (answer.code != ErrorCode::kCorrupt || !clean) throw;
    return answer;
  }
}

/// A request that is one entry.
template <class Answer>
class SingleJob : public WriteJob {
 public:
  using Operation = std::function<Result<Answer>(WriteContext&)>;

  SingleJob(Operation operation, Completion<Answer> done)
      : operation_(std::move(operation)), done_(std::move(done)) {}

  std::size_t entries() const override { return 1; }
  void apply(std::size_t, WriteContext& context) override {
    answer_.emplace(run_entry<Answer>(context, [&] { return operation_(context); }));
  }
  void fail(std::size_t, const Error& error) override { answer_.emplace(error); }
  void answer() override { done_(std::move(*answer_)); }

 protected:
  const std::optional<Result<Answer>>& kept() const { return answer_; }

 private:
  Operation operation_;
  Completion<Answer> done_;
  std::optional<Result<Answer>> answer_;
};

/// About how many rows a batch writes, for the size of groups.
template <class Request>
std::size_t rows_of(const Request& request) {
  return request.entries.size();
}
inline std::size_t rows_of(const AckOrchestrationItems& request) {
  std::size_t rows = 0;
  for (const TurnCommit& turn : request.entries) {
    rows += 4 + turn.events.size() + turn.work.size() + turn.timers.size() +
            4 * turn.children.size() + turn.raised.size() + turn.replies.size() +
            turn.canceled_work.size() + turn.kept_messages.size();
    if (turn.next) rows += 4 + turn.next->carried.size();
  }
  return rows;
}

/// A request of entries that succeed or fail each by itself.
template <class Request, class Answer>
class BatchJob : public WriteJob {
 public:
  using Operation = std::function<Result<Answer>(WriteContext&, const Request&, std::size_t)>;

  BatchJob(Request request, Operation operation, Completion<Batch<Answer>> done)
      : rows_(rows_of(request)),
        request_(std::move(request)),
        operation_(std::move(operation)),
        done_(std::move(done)),
        answers_(request_.entries.size(), unavailable("not written")) {}

  std::size_t entries() const override { return answers_.size(); }
  std::size_t rows() const override { return rows_; }
  void apply(std::size_t entry, WriteContext& context) override {
    answers_[entry] =
        run_entry<Answer>(context, [&] { return operation_(context, request_, entry); });
  }
  void fail(std::size_t entry, const Error& error) override {
    answers_[entry] = Result<Answer>(error);
  }
  void answer() override { done_(std::move(answers_)); }

 private:
  const std::size_t rows_;
  Request request_;
  Operation operation_;
  Completion<Batch<Answer>> done_;
  Batch<Answer> answers_;
};

}  // namespace perdure::sqlite
