#include <utility>

#include <perdure/client.h>

#include "client/bulk_cancel.h"
#include "client/checked_reason.h"
#include "client/chosen_runs.h"
#include "client/run_values.h"
#include "model/option_ranges.h"

namespace perdure {

namespace {

client::ChosenRuns choose(Provider& store,
                          const RunFilter& filter,
                          const CancelAllOptions& options,
                          Duration call_timeout) {
  constexpr std::size_t kMostNamed = 10'000;
  option_ranges::check_size("max_named", options.max_named, 0, kMostNamed);
  return client::ChosenRuns(store, client::live_filter(filter, options.every_run), call_timeout);
}

[[noreturn]] void throw_stopped(const RunsCanceled& done, const std::string& why) {
  std::string text = "canceled so far: " + std::to_string(done.canceled);
  if (done.unknown > 0) text += "; not known: " + std::to_string(done.unknown);
  throw CancelAllStopped(text + "; then it stopped: " + why, done);
}

}  // namespace

CancelPreview Client::preview_cancel_all(const RunFilter& filter,
                                         const CancelAllOptions& options) const {
  CancelPreview preview;
  choose(*store_, filter, options, options_.call_timeout).look_through([&](InstanceSummary run) {
    if (run.problem) {
      ++preview.unreadable;
    } else if (run.cancel_requested_at) {
      ++preview.canceling;
    } else {
      ++preview.runs;
      if (preview.first.size() >= options.max_named) return;
      preview.first.push_back(client::run_summary(std::move(run)));
    }
  });
  return preview;
}

RunsCanceled Client::cancel_all(const RunFilter& filter,
                                std::string_view reason,
                                const CancelAllOptions& options) const {
  client::BulkCancel cancel(*store_,
                            {client::checked_reason(reason, options_.max_payload_bytes),
                             options_.cancel_cleanup_timeout,
                             options_.call_timeout,
                             options.max_named});
  client::ChosenRuns chosen = choose(*store_, filter, options, options_.call_timeout);
  try {
    chosen.look_through([](const InstanceSummary&) {});
    for (auto runs = chosen.take_oldest(); !runs.empty(); runs = chosen.take_oldest()) {
      cancel.cancel(runs);
    }
  } catch (const Unavailable& error) {
    throw_stopped(cancel.done(), error.what());
  }
  return cancel.done();
}

}  // namespace perdure
