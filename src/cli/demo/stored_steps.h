#pragma once

#include <map>
#include <string>
#include <string_view>

#include <perdure/client.h>

namespace perdure::demo {

/// What the history of a run holds of each of its steps, read from the store. A value.
class StoredSteps {
 public:
  struct Step {
    int scheduled = 0;
    int completed = 0;
  };

  StoredSteps(const Client& client, const std::string& order);

  /// Zeros for a step that was never called.
  Step of(std::string_view step) const;
  /// "charge completed, pack not", in the order in which they were called.
  std::string to_string() const;

 private:
  std::map<std::int64_t, std::string> names_;  ///< by the event that scheduled the call
  std::map<std::string, Step, std::less<>> steps_;
};

}  // namespace perdure::demo
