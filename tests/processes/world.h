#pragma once

#include <functional>
#include <memory>
#include <string>

#include <perdure/client.h>
#include <perdure/runtime_options.h>

#include "provider/provider.h"
#include "tests/processes/child.h"
#include "tests/processes/marks.h"
#include "tests/processes/mixed_code.h"
#include "tests/support/temp_dir.h"

namespace perdure::test {

/// A store on a file, the marks of its workers, and a client in this process. One thread, but for
/// the client.
class World {
 public:
  /// Of the workers: claims of a call that may be lost, see RuntimeOptions.
  explicit World(int max_attempts = RuntimeOptions().max_attempts);

  /// A worker that is ready. At its number all marks but `begun` and `hold` are cleared.
  std::unique_ptr<Child> spawn(std::size_t number = 0);
  /// The same, without waiting until it is ready, and with an order from its birth on.
  std::unique_ptr<Child> spawn_only(std::size_t number = 0, Order order = Order::kNothing);

  const Client& client() const { return client_; }
  Provider& store() { return *store_; }
  WorkerMarks& marks(std::size_t number = 0) { return marks_.of(number); }
  std::string file() const { return dir_.file("store.db"); }

  /// Gives an order to a worker and waits until it holds.
  void order(std::size_t number, Order order);

 private:
  const int max_attempts_;
  support::TempDir dir_;
  Marks marks_{dir_.file("marks")};
  std::shared_ptr<Provider> store_;
  Client client_;
};

/// Until `done()`; false after `bound`.
[[nodiscard]] bool eventually(const std::function<bool()>& done,
                              std::chrono::seconds bound = std::chrono::seconds(60));

/// Ends a worker as an operator would; how it ended.
std::string end_quietly(Child& worker);

}  // namespace perdure::test
