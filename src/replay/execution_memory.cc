#include <algorithm>

#include "replay/execution.h"

namespace perdure::replay {

namespace {

constexpr std::size_t kNodeBytes = 64;  // of a map, with a key and a reference

}  // namespace

std::size_t Execution::bytes() const {
  const std::size_t nodes = ops_.size() + tasks_.size() + limits_.size() + limit_of_.size() +
                            patches_.size() + locals_.size();
  const auto code = static_cast<std::size_t>(std::max<std::int64_t>(code_bytes_, 0));
  return sizeof(Execution) + code + nodes * kNodeBytes +
         tasks_.size() * sizeof(detail::ScopeState) + inbox_.bytes() + undos_.bytes();
}

}  // namespace perdure::replay
