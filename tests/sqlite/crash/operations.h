#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/sqlite/crash/world.h"

namespace perdure::sqlite::crash {

/// One request of the contract, with everything it names already in it.
using Run = std::function<Status(Provider&)>;

/// A writing operation, in a state of the store in which it has something to write.
struct Operation {
  std::string name;
  /// Brings a new store into that state and answers the request. The same rows and the same request
  /// in every process.
  std::function<Run(World&)> prepare;
  std::size_t entries = 1;
  /// Done again after it has happened, it changes nothing (and may be refused as LockLost or
  /// NotFound).
  bool repeatable = true;
};

/// Every kind of writing request; acknowledgements in their variants.
std::vector<Operation> operations();

std::vector<Operation> operations_of_turns();
std::vector<Operation> operations_of_workers();
std::vector<Operation> operations_of_clients();
std::vector<Operation> operations_of_management();

template <class Request>
Run request(Request request) {
  return [request = std::move(request)](Provider& store) { return status_of(store.call(request)); };
}

}  // namespace perdure::sqlite::crash
