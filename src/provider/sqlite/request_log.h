#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/ids.h"
#include "model/request.h"
#include "provider/sqlite/writer.h"

/// Answers of calls that were made with a request id. Requires: an open write transaction.
namespace perdure::sqlite {

struct StoredAnswer {
  InstanceKey instance;
  ExecutionNo execution;
  std::int64_t answer = 0;  ///< the code of the call's own answer
  bool changed = false;
  std::int64_t reached = 0;
  bool cascading = false;
  /// Answers that are numbers alone (deletes, prunes): the fields in their order.
  std::vector<std::int64_t> numbers = {};
};

/// The answer of an earlier call with this id; nullopt when there is none or the id is empty.
/// InvalidArgument when the id belongs to another kind of call. An answer of `numbers` has so many.
Result<std::optional<StoredAnswer>> find_answer(Connection& db,
                                                RequestKind kind,
                                                const std::string& request_id,
                                                std::size_t numbers = 0);

/// Keeps an answer, in the same commit as what it tells of. Nothing for an empty id.
void keep_answer(WriteContext& context,
                 RequestKind kind,
                 const std::string& request_id,
                 const StoredAnswer& answer);

/// The same for an answer that is numbers alone.
void keep_numbers(WriteContext& context,
                  RequestKind kind,
                  const std::string& request_id,
                  std::vector<std::int64_t> numbers);

}  // namespace perdure::sqlite
