#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

namespace perdure::conformance {

/// Words that the suites about deletes share.
class DeletionSteps : public Conformance {
 protected:
  Result<InstanceDeleted> try_delete(const std::string& id,
                                     bool force = false,
                                     std::int64_t limit = 1'000) {
    return store().delete_instance({.id = id, .force = force, .limit = limit});
  }

  InstanceDeleted delete_it(const std::string& id, bool force = false) {
    auto answer = try_delete(id, force);
    if (!answer.ok()) throw std::runtime_error("delete: " + answer.error().message);
    return std::move(answer).value();
  }

  bool exists(const std::string& id) {
    const auto found = store().get_instance(id);
    if (!found.ok() && found.code() != ErrorCode::kNotFound) {
      throw std::runtime_error("get_instance: " + found.error().message);
    }
    return found.ok();
  }

  /// Carries on to the end; answers what that removed.
  RemovalsCarriedOn carry_on_to_the_end(std::int64_t limit) {
    RemovalsCarriedOn sum;
    for (int round = 0; round < 1'000; ++round) {
      CarryOnRemovals request;
      request.limit = limit;
      auto answer = store().carry_on_removals(request);
      if (!answer.ok()) throw std::runtime_error("carry on: " + answer.error().message);
      EXPECT_LE(answer->events, limit);
      sum.instances += answer->instances;
      sum.events += answer->events;
      sum.touched.insert(sum.touched.end(), answer->touched.begin(), answer->touched.end());
      if (!answer->removing) return sum;
    }
    ADD_FAILURE() << "the removal never ends";
    return sum;
  }
};

}  // namespace perdure::conformance
