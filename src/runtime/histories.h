#pragma once

#include <vector>

#include "provider/provider.h"

namespace perdure::runtime {

/// Which history, up to which event.
struct WantedHistory {
  InstanceKey instance;
  ExecutionNo execution;
  EventId last_event;
};

/// Whole histories, in the order asked for, read in pages of `page` events each, all that are not
/// complete in one batch. An entry is an error by itself: Corrupt for a row that cannot be read or
/// a history that ends before its last event; the error of the call for all that were still open
/// when it failed.
Batch<std::vector<HistoryEvent>> read_histories(Provider& provider,
                                                const std::vector<WantedHistory>& wanted,
                                                std::size_t page);

}  // namespace perdure::runtime
