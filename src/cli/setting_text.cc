#include "cli/setting_text.h"

#include <sstream>
#include <variant>

#include "cli/amounts.h"
#include "model/ids.h"

namespace perdure::cli {

namespace {

std::string bound_text(const runtime::BoundBy& by, Duration fixed) {
  if (by.member == nullptr) return time_amount(fixed);
  const std::string times = by.times == 1 ? "" : std::to_string(by.times) + " x ";
  return times + full_name(runtime::time_setting(by.member));
}

/// The shortest text of a number: "0.001".
std::string short_number(double number) {
  std::ostringstream out;
  out << number;
  return out.str();
}

template <class Owner>
void describe_count(const runtime::CountSetting<Owner>& row, SettingText& text) {
  text.standard = count_amount(Owner{}.*row.member);
  text.range = count_amount(row.least) + " to " + count_amount(row.most);
}

void describe(const runtime::CountSetting<RuntimeOptions>& row, SettingText& text) {
  describe_count(row, text);
}

void describe(const runtime::CountSetting<WorkerSettings>& row, SettingText& text) {
  describe_count(row, text);
}

void describe(const runtime::TimeSetting& row, SettingText& text) {
  text.standard = time_amount(RuntimeOptions{}.*row.member);
  text.range = bound_text(row.least_by, row.least) + " to " + bound_text(row.most_by, row.most);
}

void describe(const runtime::SizeSetting& row, SettingText& text) {
  const auto amount = [&](std::size_t size) {
    return row.bytes ? byte_amount(size) : count_amount(static_cast<std::int64_t>(size));
  };
  text.standard = amount(RuntimeOptions{}.*row.member);
  text.range = amount(row.least) + " or more";
}

void describe(const runtime::FractionSetting& row, SettingText& text) {
  text.standard = short_number(RuntimeOptions{}.*row.member);
  text.range = "0 to 1";
}

void describe(const runtime::SwitchSetting& row, SettingText& text) {
  text.standard = RuntimeOptions{}.*row.member ? "true" : "false";
  text.range = "true or false";
}

void describe(const runtime::QueuesSetting& row, SettingText& text) {
  const std::size_t queues = (RuntimeOptions{}.*row.member).size();
  text.standard = queues == 0 ? "empty" : count_amount(static_cast<std::int64_t>(queues));
  text.range = "any number";
}

void describe(const runtime::QueueTimeSetting& row, SettingText& text) {
  const WorkerSettings defaults;
  const auto& standard = defaults.*row.member;
  text.standard = standard ? time_amount(*standard) : "unset";
  text.range = time_amount(row.least) + " to " + time_amount(row.most);
}

void describe(const runtime::QueueNameSetting& row, SettingText& text) {
  text.standard = WorkerSettings{}.*row.member;
  text.range = "1 to " + std::to_string(kMaxIdBytes) + " bytes";
}

}  // namespace

SettingText text_of(const runtime::Setting& setting) {
  SettingText text;
  text.name = full_name(setting);
  std::visit([&](const auto& row) { describe(row, text); }, setting.kind);
  text.meaning = setting.meaning;
  if (!setting.zero.empty()) text.meaning += "; 0: " + std::string(setting.zero);
  return text;
}

}  // namespace perdure::cli
