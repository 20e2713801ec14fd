#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "model/ids.h"
#include "provider/provider.h"

/// A real second process for tests: an executable that opens the same store and does what it is
/// told over pipes. It can be killed, stopped and continued by signals.
namespace perdure::conformance {

/// The test's handle of a peer. Destruction kills it with SIGKILL and reaps it.
class Peer {
 public:
  /// Executes `program` (which calls peer_main) on `url`. `now` is where its virtual clock starts.
  static std::unique_ptr<Peer> spawn(const std::string& program,
                                     const std::string& url,
                                     TimePoint now);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  pid_t pid() const { return pid_; }

  // Each sends one command and waits for its answer (bounded; a test failure otherwise).
  Epoch register_process();
  /// Locks up to n instances of the default queue; answers their ids.
  std::vector<std::string> lock_instances(int count, Duration lock_for);
  /// Claims up to n work rows of the default queue; answers their row ids.
  std::vector<WorkId> claim_work(int count, Duration lock_for);
  /// Commits an empty turn for the instance it locked; the answer's code, or nullopt when ok.
  std::optional<ErrorCode> commit_turn(const std::string& id);
  /// Completes a row that it claimed.
  std::optional<ErrorCode> complete_work(WorkId id);
  std::optional<ErrorCode> heartbeat();
  void start_instance(const std::string& id);
  /// Locks and completes instances in a loop until none is left; answers how many it did.
  int drain_instances();
  void advance(Duration step);

  void kill();  ///< SIGKILL, seen by waitpid
  void stop();  ///< SIGSTOP, seen by waitpid
  void resume();

 private:
  Peer() = default;
  std::string ask(const std::string& command);

  pid_t pid_ = -1;
  int to_peer_ = -1;
  int from_peer_ = -1;
};

/// Opens a store by url with the given clock, for peer_main.
using PeerOpener = std::function<Result<std::unique_ptr<Provider>>(const std::string& url, Clock&)>;

/// The main function of a peer executable.
int peer_main(int argc, char** argv, const PeerOpener& open);

}  // namespace perdure::conformance
