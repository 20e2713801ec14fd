#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <perdure/runtime_options.h>

#include "model/option_ranges.h"

/// All settings of a runtime in one table: where each stands, its range and its meaning. `check`
/// takes the ranges from it, `perdure settings` and docs/operations.md show it. The defaults are
/// those of a RuntimeOptions that nobody changed. Pure.
namespace perdure::runtime {

/// A bound that another setting gives: so many times its value.
struct BoundBy {
  Duration RuntimeOptions::*member = nullptr;  ///< none: there is no such bound
  int times = 1;
};

struct TimeSetting {
  Duration RuntimeOptions::*member;
  Duration least = std::chrono::milliseconds(1);
  Duration most = option_ranges::kMostTime;
  BoundBy least_by = {};  ///< in place of `least`
  BoundBy most_by = {};   ///< in place of `most`
};

/// Owner: RuntimeOptions, or WorkerSettings for what holds for one queue.
template <class Owner>
struct CountSetting {
  int Owner::*member;
  int least;
  int most;
};

/// A number of things or of bytes that memory alone bounds: at most `option_ranges::kMostSize`.
struct SizeSetting {
  std::size_t RuntimeOptions::*member;
  std::size_t least;
  bool bytes;
};

/// 0 to 1.
struct FractionSetting {
  double RuntimeOptions::*member;
};

struct SwitchSetting {
  bool RuntimeOptions::*member;
};

/// The queues; their own settings follow it in the table. No queue stands there twice.
struct QueuesSetting {
  std::vector<WorkerSettings> RuntimeOptions::*member;
};

/// An id: 1 to `kMaxIdBytes` bytes.
struct QueueNameSetting {
  std::string WorkerSettings::*member;
};

/// A time that one queue may have of its own; unset: that of the runtime.
struct QueueTimeSetting {
  std::optional<Duration> WorkerSettings::*member;
  Duration least = std::chrono::milliseconds(1);
  Duration most = option_ranges::kMostTime;
};

using SettingKind = std::variant<TimeSetting,
                                 CountSetting<RuntimeOptions>,
                                 CountSetting<WorkerSettings>,
                                 SizeSetting,
                                 FractionSetting,
                                 SwitchSetting,
                                 QueuesSetting,
                                 QueueNameSetting,
                                 QueueTimeSetting>;

struct Setting {
  std::string_view name;  ///< of the member
  std::string_view group;
  SettingKind kind;
  std::string_view meaning;    ///< one sentence, without a dot at its end
  std::string_view zero = {};  ///< what zero means; empty when it is out of the range
};

/// In the order of the members; what belongs to one group stands together.
std::span<const Setting> settings();

/// Whether it stands in WorkerSettings.
bool is_of_queue(const Setting& setting);

/// Whether its range depends on another setting.
bool is_relative(const Setting& setting);

/// "workers[].queue" for a setting of a queue, else its name.
std::string full_name(const Setting& setting);

/// The setting of that member. Requires: there is one.
const Setting& time_setting(Duration RuntimeOptions::*member);

/// The bounds that hold beside these options.
Duration least_of(const TimeSetting& setting, const RuntimeOptions& options);
Duration most_of(const TimeSetting& setting, const RuntimeOptions& options);

}  // namespace perdure::runtime
