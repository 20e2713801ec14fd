#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include <perdure/detail/handler_table.h>
#include <perdure/runtime_options.h>

#include "provider/provider.h"
#include "runtime/registration.h"

namespace perdure::runtime {

/// What is behind a Runtime: registers this process in the store, runs the registration, registers
/// anew when it was ended by others, and shuts down. A store that cannot be reached is tried again.
/// Threading: any thread.
class Host {
 public:
  Host(std::shared_ptr<Provider> store,
       std::shared_ptr<const detail::HandlerTable> handlers,
       const RuntimeOptions& options);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  /// Stops.
  ~Host();

  /// Shuts down as `Registration::shut_down` says; returns when that is done. Any number of times.
  void stop();

 private:
  void run();
  std::optional<Epoch> register_process();
  void run_registration(Epoch epoch);
  void release(Epoch epoch);
  bool is_stopping();
  void pause(std::chrono::milliseconds time);

  const std::shared_ptr<Provider> store_;
  const std::shared_ptr<const detail::HandlerTable> handlers_;
  const RuntimeOptions options_;
  const std::shared_ptr<Random> random_;
  const std::shared_ptr<StopFirer> firer_ = std::make_shared<ThreadedFirer>();
  const std::shared_ptr<Quarantine> quarantine_ = std::make_shared<Quarantine>();
  HandlerPool pool_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool stopping_ = false;
  bool lost_ = false;

  std::mutex join_mutex_;
  std::thread thread_;  // joined with join_mutex_ held
};

}  // namespace perdure::runtime
