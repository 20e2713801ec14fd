#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "provider/call.h"
#include "provider/sqlite/write_job.h"

/// Requests as jobs of the writer.
namespace perdure::sqlite {

/// A request that is one entry.
template <class Answer>
class SingleJob : public WriteJob {
 public:
  using Operation = std::function<Result<Answer>(WriteContext&)>;

  SingleJob(Operation operation, Completion<Answer> done)
      : operation_(std::move(operation)), done_(std::move(done)) {}

  std::size_t entries() const override { return 1; }
  void apply(std::size_t, WriteContext& context) override { answer_.emplace(operation_(context)); }
  void fail(std::size_t, const Error& error) override { answer_.emplace(error); }
  void answer() override { done_(std::move(*answer_)); }

 protected:
  const std::optional<Result<Answer>>& kept() const { return answer_; }

 private:
  Operation operation_;
  Completion<Answer> done_;
  std::optional<Result<Answer>> answer_;
};

/// A request of entries that succeed or fail each by itself.
template <class Request, class Answer>
class BatchJob : public WriteJob {
 public:
  using Operation = std::function<Result<Answer>(WriteContext&, const Request&, std::size_t)>;

  BatchJob(Request request, Operation operation, Completion<Batch<Answer>> done)
      : request_(std::move(request)),
        operation_(std::move(operation)),
        done_(std::move(done)),
        answers_(request_.entries.size(), unavailable("not written")) {}

  std::size_t entries() const override { return answers_.size(); }
  void apply(std::size_t entry, WriteContext& context) override {
    answers_[entry] = operation_(context, request_, entry);
  }
  void fail(std::size_t entry, const Error& error) override {
    answers_[entry] = Result<Answer>(error);
  }
  void answer() override { done_(std::move(answers_)); }

 private:
  Request request_;
  Operation operation_;
  Completion<Batch<Answer>> done_;
  Batch<Answer> answers_;
};

}  // namespace perdure::sqlite
