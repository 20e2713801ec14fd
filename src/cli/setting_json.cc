#include "cli/setting_json.h"

#include <cstdint>
#include <string>
#include <variant>

#include "model/ids.h"

namespace perdure::cli {

namespace {

/// The fields that depend on the kind.
struct SettingFields {
  std::string unit;
  OrderedJson standard;
  OrderedJson least;
  OrderedJson most;
  OrderedJson least_by;
  OrderedJson most_by;
};

std::int64_t in_ms(Duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

OrderedJson bound_json(const runtime::BoundBy& by) {
  if (by.member == nullptr) return nullptr;
  return {{"setting", full_name(runtime::time_setting(by.member))}, {"times", by.times}};
}

template <class Owner>
SettingFields fields_of(const runtime::CountSetting<Owner>& row) {
  return {.unit = "count",
          .standard = Owner{}.*row.member,
          .least = row.least,
          .most = row.most};
}

SettingFields fields_of(const runtime::TimeSetting& row) {
  const RuntimeOptions options;
  return {.unit = "ms",
          .standard = in_ms(options.*row.member),
          .least = in_ms(least_of(row, options)),
          .most = in_ms(most_of(row, options)),
          .least_by = bound_json(row.least_by),
          .most_by = bound_json(row.most_by)};
}

SettingFields fields_of(const runtime::SizeSetting& row) {
  return {.unit = row.bytes ? "bytes" : "count",
          .standard = RuntimeOptions{}.*row.member,
          .least = row.least,
          .most = option_ranges::kMostSize};
}

SettingFields fields_of(const runtime::FractionSetting& row) {
  return {.unit = "fraction", .standard = RuntimeOptions{}.*row.member, .least = 0, .most = 1};
}

SettingFields fields_of(const runtime::SwitchSetting& row) {
  return {.unit = "switch", .standard = RuntimeOptions{}.*row.member};
}

SettingFields fields_of(const runtime::QueuesSetting& row) {
  OrderedJson queues = OrderedJson::array();
  const RuntimeOptions defaults;
  for (const WorkerSettings& each : defaults.*row.member) queues.push_back(each.queue);
  return {.unit = "queues", .standard = std::move(queues)};
}

SettingFields fields_of(const runtime::QueueTimeSetting& row) {
  const WorkerSettings defaults;
  const auto& standard = defaults.*row.member;
  return {.unit = "ms",
          .standard = standard ? OrderedJson(in_ms(*standard)) : OrderedJson(nullptr),
          .least = in_ms(row.least),
          .most = in_ms(row.most)};
}

SettingFields fields_of(const runtime::QueueNameSetting& row) {
  return {.unit = "text",
          .standard = WorkerSettings{}.*row.member,
          .least = 1,
          .most = kMaxIdBytes};
}

}  // namespace

OrderedJson to_json(const runtime::Setting& setting) {
  SettingFields fields =
      std::visit([](const auto& row) { return fields_of(row); }, setting.kind);
  OrderedJson out;
  out["name"] = full_name(setting);
  out["group"] = setting.group;
  out["unit"] = fields.unit;
  out["default"] = std::move(fields.standard);
  out["least"] = std::move(fields.least);
  out["most"] = std::move(fields.most);
  out["least_by"] = std::move(fields.least_by);
  out["most_by"] = std::move(fields.most_by);
  out["zero"] = setting.zero.empty() ? OrderedJson() : OrderedJson(setting.zero);
  out["meaning"] = setting.meaning;
  return out;
}

}  // namespace perdure::cli
