#pragma once

#include <array>
#include <functional>
#include <stdexcept>
#include <string>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

namespace perdure::conformance {

/// Words that the suites about damaged rows share.
class CorruptSteps : public Conformance {
 protected:
  using Table = RowRef::Table;
  using Damage = RowRef::Damage;

  static constexpr std::array kDamages{
      Damage::kUnknownCode, Damage::kWrongType, Damage::kTooSmall, Damage::kBadText};

  static const char* name(Damage damage) {
    switch (damage) {
      case Damage::kUnknownCode:
        return "unknown-code";
      case Damage::kWrongType:
        return "wrong-type";
      case Damage::kTooSmall:
        return "too-small";
      case Damage::kBadText:
        break;
    }
    return "bad-text";
  }

  /// Calls `test` for every damage, with a prefix for ids. It damages what it has made by `damage`
  /// and goes on only if that answers true: a store need not be able to hold every damage.
  void for_each_damage(const std::function<void(Damage, const std::string&)>& test) {
    for (const Damage damage : kDamages) {
      const std::string prefix = name(damage);
      SCOPED_TRACE(prefix);
      test(damage, prefix + "-");
      if (HasFatalFailure()) return;
    }
  }

  bool damage(RowRef row, Damage damage) {
    row.damage = damage;
    return under_test().corrupt(row);
  }

  /// A row of an instance.
  bool damage(Table table, InstanceKey key, Damage how) {
    RowRef row;
    row.table = table;
    row.instance = key;
    row.event = EventId{1};
    return damage(row, how);
  }

  static void expect_named(const Error& error, const std::string& key) {
    EXPECT_EQ(error.code, ErrorCode::kCorrupt) << error;
    EXPECT_NE(error.message.find("table "), std::string::npos) << error;
    EXPECT_NE(error.message.find(key), std::string::npos) << error;
  }
  static void expect_named(const Error& error, std::int64_t key) {
    expect_named(error, "key " + std::to_string(key));
  }

  static const OrchestrationItem* find(const std::vector<OrchestrationItem>& items,
                                       InstanceKey key) {
    for (const OrchestrationItem& item : items) {
      if (item.instance == key) return &item;
    }
    return nullptr;
  }

  InstanceSummary listed(InstanceKey key) {
    const auto page = store().list_instances({});
    if (!page.ok()) throw std::runtime_error("list: " + page.error().message);
    for (const InstanceSummary& summary : page->instances) {
      if (summary.key == key) return summary;
    }
    throw std::runtime_error("the instance is not listed");
  }

  /// The newest change: nothing that shows in the feed was written while it stays.
  ChangeSeq newest_change() {
    const auto page = store().read_changes(ChangeSeq{0}, 100'000);
    if (!page.ok()) throw std::runtime_error("changes: " + page.error().message);
    return page->changes.empty() ? ChangeSeq{0} : page->changes.back().seq;
  }

  /// Whatever is ready and sound gets a turn that does nothing, until nothing is ready.
  void drain() {
    for (int round = 0; round < 100; ++round) {
      const auto items = lock_up_to(100);
      if (items.empty()) return;
      for (const OrchestrationItem& item : items) {
        if (item.problem) {
          abandon(item, 1h, Charge::kDeferral, BlockedReason::kCorrupt);
        } else {
          commit(turn(item));
        }
      }
    }
    ADD_FAILURE() << "the queue never becomes empty: a hot loop";
  }
};

}  // namespace perdure::conformance
