#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "provider/provider.h"
#include "tests/conformance/peer.h"

/// What a provider must bring to be held to the suite. docs/provider-testing.md shows how to link
/// it.
namespace perdure::conformance {

/// A row that a test wants unreadable.
struct RowRef {
  enum class Table { kHistory, kMessage, kWork, kExecution };

  Table table = Table::kHistory;
  InstanceKey instance;  ///< of history, message (its oldest row), execution (the current one)
  EventId event;         ///< of history
  WorkId work;           ///< of work
};

/// One fresh, empty store, thrown away with this object.
class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;

  /// The provider of this process. Its time, and that of its clock(), moves only by `advance`.
  virtual Provider& provider() = 0;

  /// Moves the store's time for every provider of this process. Peers keep their own offset.
  virtual void advance(Duration step) = 0;

  /// A second provider object of this process on the same store, with connections of its own and
  /// the same clock; nullptr when the store cannot be opened twice (in-memory).
  virtual std::unique_ptr<Provider> second_provider() = 0;

  /// A real second process on the same store; its clock starts where this one's stands. nullptr
  /// when the store cannot be shared.
  virtual std::unique_ptr<Peer> second_process() = 0;

  /// Makes a row unreadable for the provider (an unknown code in it, for example).
  virtual void corrupt(const RowRef& row) = 0;
};

struct StoreParam {
  std::string name;  ///< "file", "memory": ends test names
  std::function<std::unique_ptr<StoreUnderTest>()> make;
  bool shared = false;  ///< several processes can open it
};

/// What GoogleTest shows of a parameter: its name.
void PrintTo(const StoreParam& store, std::ostream* out);

/// Defined by the executable that links the suite: the stores to test.
std::vector<StoreParam> stores();

/// Those of them that several processes can open.
std::vector<StoreParam> shared_stores();

}  // namespace perdure::conformance
