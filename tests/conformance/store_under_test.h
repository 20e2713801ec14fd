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
  enum class Table {
    kHistory,
    kMessage,
    kWork,
    kExecution,
    kInstance,        ///< id, names, parent link, number of the current execution
    kLine,            ///< when an instance wants its turn, and its lock
    kProcess,         ///< a registration
    kRequest,         ///< the stored answer of a request id
    kRunRequest,      ///< an update or a query
    kPendingStart,    ///< a start that waits for the run before it to end
    kCascade,         ///< descendants that are still to be canceled
    kRemoval,         ///< what is still to be removed of a deleted instance
    kChange,          ///< a row of the change feed
    kEarlyEvent,      ///< an event for an id that does not exist yet
    kDeclaredSignal,  ///< a signal that the code of a process takes
    kKeptSignal,      ///< that a live run keeps a signal
  };
  enum class Damage {
    kUnknownCode,  ///< a number that no version knows
    kWrongType,    ///< something that is no number where a number belongs
    kTooSmall,     ///< a negative number where there can be none
    kBadText,      ///< bytes that are no text
  };

  Table table = Table::kHistory;
  /// Of history, message (its oldest row), execution (the current one), instance, line, pending
  /// start, cascade, removal, run request, kept signal.
  InstanceKey instance;
  EventId event;  ///< of history
  WorkId work;    ///< of work
  Damage damage = Damage::kUnknownCode;
  Epoch epoch;           ///< of process and declared signal
  std::string text_key;  ///< (request) id of a request, instance id of an early event, signal
  ChangeSeq change;      ///< of change
  RequestKind kind = RequestKind::kUpdate;  ///< of run request
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

  /// Makes a row unreadable for the provider, in the way that is asked for. The row must exist, and
  /// must stay findable by its key. False, and nothing is changed, when this store has no such
  /// table, or cannot hold such a value in it; an unknown code in history, message, work and
  /// execution is possible in every store.
  virtual bool corrupt(const RowRef& row) = 0;
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
