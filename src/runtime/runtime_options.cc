#include <set>
#include <string>
#include <variant>

#include <perdure/errors.h>
#include <perdure/runtime_options.h>

#include "model/ids.h"
#include "model/option_ranges.h"
#include "runtime/settings.h"

namespace perdure {

namespace {

/// Compares one setting of a queue with its row of the table.
struct QueueCheck {
  const WorkerSettings& worker;
  const std::string field;

  void operator()(const runtime::CountSetting<WorkerSettings>& row) const {
    option_ranges::check_count(field, worker.*row.member, row.least, row.most);
  }
  void operator()(const runtime::QueueNameSetting& row) const {
    const Status queue = check_id(field, worker.*row.member);
    if (!queue.ok()) throw InvalidArgument(queue.error().message);
  }
  void operator()(const runtime::QueueTimeSetting& row) const {
    if (!(worker.*row.member)) return;
    option_ranges::check_time(field, *(worker.*row.member), row.least, row.most);
  }
  void operator()(const auto& /*of the runtime*/) const {}
};

/// Compares one setting of a runtime with its row of the table.
struct OptionCheck {
  const RuntimeOptions& options;
  const std::string field;

  void operator()(const runtime::TimeSetting& row) const {
    option_ranges::check_time(field,
                              options.*row.member,
                              runtime::least_of(row, options),
                              runtime::most_of(row, options));
  }
  void operator()(const runtime::CountSetting<RuntimeOptions>& row) const {
    option_ranges::check_count(field, options.*row.member, row.least, row.most);
  }
  void operator()(const runtime::SizeSetting& row) const {
    option_ranges::check_size(field, options.*row.member, row.least);
  }
  void operator()(const runtime::FractionSetting& row) const {
    option_ranges::check_fraction(field, options.*row.member);
  }
  void operator()(const runtime::QueuesSetting& row) const {
    std::set<std::string> queues;
    for (std::size_t i = 0; i < (options.*row.member).size(); ++i) {
      const WorkerSettings& worker = (options.*row.member)[i];
      const std::string place = field + "[" + std::to_string(i) + "].";
      for (const runtime::Setting& each : runtime::settings()) {
        std::visit(QueueCheck{worker, place + std::string(each.name)}, each.kind);
      }
      if (!queues.insert(worker.queue).second) {
        throw InvalidArgument(place + "queue: '" + worker.queue + "' is listed twice");
      }
    }
  }
  void operator()(const runtime::SwitchSetting& /*both are good*/) const {}
  void operator()(const runtime::CountSetting<WorkerSettings>& /*with the queues*/) const {}
  void operator()(const runtime::QueueNameSetting& /*with the queues*/) const {}
  void operator()(const runtime::QueueTimeSetting& /*with the queues*/) const {}
};

}  // namespace

void check(const RuntimeOptions& options) {
  // Those that bound others first: a bound is a good value itself.
  for (const bool relative : {false, true}) {
    for (const runtime::Setting& each : runtime::settings()) {
      if (runtime::is_relative(each) != relative) continue;
      std::visit(OptionCheck{options, std::string(each.name)}, each.kind);
    }
  }
}

}  // namespace perdure
