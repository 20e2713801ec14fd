#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/doc_tables_test.h"
#include "model/event.h"
#include "model/message.h"
#include "model/request.h"
#include "model/status.h"
#include "model/work_item.h"

namespace perdure {
namespace {

using testing_support::DocRow;
using testing_support::DocTables;
using testing_support::without_ticks;

const DocTables& storage_format() {
  static const DocTables kTables = testing_support::doc_tables("docs/storage-format.md");
  return kTables;
}

const DocTables& state_machine() {
  static const DocTables kTables = testing_support::doc_tables("docs/state-machine.md");
  return kTables;
}

/// The columns that the page says a kind uses: "`source`, `payload`" -> {source, payload}.
std::set<std::string> columns_of(const DocRow& row) {
  std::set<std::string> columns;
  std::istringstream rest(row[2]);
  for (std::string column; std::getline(rest, column, ',');) {
    const bool fresh = columns.insert(without_ticks(testing_support::trimmed(column))).second;
    EXPECT_TRUE(fresh) << row[1] << ": " << column << " twice";
  }
  return columns;
}

void expect_known_columns(const std::string& mark, const std::set<std::string>& known) {
  for (const DocRow& row : storage_format().at(mark)) {
    for (const std::string& column : columns_of(row)) {
      EXPECT_TRUE(known.contains(column)) << row[1] << ": " << column;
    }
  }
}

TEST(StorageFormatPage, ListsTheCodesOfEveryStoredEnum) {
  testing_support::expect_listed<EventKind>(storage_format());
  testing_support::expect_listed<MessageKind>(storage_format());
  testing_support::expect_listed<ExecutionStatus>(storage_format());
  testing_support::expect_listed<ClosePolicy>(storage_format());
  testing_support::expect_listed<BlockedReason>(storage_format());
  testing_support::expect_listed<WorkState>(storage_format());
  testing_support::expect_listed<OnCancel>(storage_format());
  testing_support::expect_listed<OwnerKind>(storage_format());
  testing_support::expect_listed<RequestKind>(storage_format());
  testing_support::expect_listed<RequestStage>(storage_format());
  testing_support::expect_listed<ChangeKind>(storage_format());
}

TEST(StorageFormatPage, HasNoTableThatNobodyCompares) {
  std::set<std::string> marks;
  for (const auto& [mark, rows] : storage_format()) marks.insert(mark);
  EXPECT_EQ(marks,
            (std::set<std::string>{"codes: BlockedReason",
                                   "codes: ClosePolicy",
                                   "codes: EventKind",
                                   "codes: ExecutionStatus",
                                   "codes: MessageKind",
                                   "codes: OnCancel",
                                   "codes: OwnerKind",
                                   "codes: ChangeKind",
                                   "codes: RequestKind",
                                   "codes: RequestStage",
                                   "codes: WorkState",
                                   // Declared by the provider layer and compared there.
                                   "codes: EventDelivery",
                                   "codes: StartOutcome"}));
}

TEST(StorageFormatPage, NamesOnlyColumnsThatExist) {
  expect_known_columns("codes: EventKind",
                       {"source", "name", "payload", "text", "number", "failure"});
  expect_known_columns("codes: MessageKind",
                       {"execution", "source", "name", "payload", "text", "failure"});
}

TEST(StorageFormatPage, GivesAnExecutionToTheMessagesThatBelongToOne) {
  for (const DocRow& row : storage_format().at("codes: MessageKind")) {
    const auto kind = from_name<MessageKind>(without_ticks(row[1]));
    ASSERT_TRUE(kind.has_value()) << row[1];
    EXPECT_EQ(columns_of(row).contains("execution"), belongs_to_execution(*kind)) << row[1];
  }
}

TEST(StorageFormatPage, CallsTheTerminalEventsLast) {
  for (const DocRow& row : storage_format().at("codes: EventKind")) {
    const auto kind = from_name<EventKind>(without_ticks(row[1]));
    ASSERT_TRUE(kind.has_value()) << row[1];
    EXPECT_EQ(row[3].ends_with("last"), is_terminal(*kind)) << row[1];
  }
}

constexpr std::string_view kArrow = " --> ";

using Change = std::pair<std::string, std::string>;

std::vector<Change> allowed_changes() {
  std::vector<Change> changes;
  for (const StatusTransition& transition : status_transitions()) {
    changes.emplace_back(to_string(transition.from), to_string(transition.to));
  }
  return changes;
}

TEST(StateMachinePage, HasNoTableThatNobodyCompares) {
  EXPECT_EQ(state_machine().size(), 2U);
  EXPECT_TRUE(state_machine().contains("statuses: ExecutionStatus"));
  EXPECT_TRUE(state_machine().contains("transitions: ExecutionStatus"));
}

TEST(StateMachinePage, ListsEveryStatusAndWhetherItIsTerminal) {
  std::vector<Change> listed;
  for (const DocRow& row : state_machine().at("statuses: ExecutionStatus")) {
    listed.emplace_back(without_ticks(row[0]), row[1]);
  }
  std::vector<Change> expected;
  for (const auto& row : CodeTable<ExecutionStatus>::rows()) {
    expected.emplace_back(row.name, is_terminal(row.value) ? "yes" : "no");
  }
  EXPECT_EQ(listed, expected);
}

TEST(StateMachinePage, ListsEveryAllowedTransitionAndSaysWhen) {
  std::vector<Change> listed;
  for (const DocRow& row : state_machine().at("transitions: ExecutionStatus")) {
    listed.emplace_back(without_ticks(row[0]), without_ticks(row[1]));
    EXPECT_FALSE(row[2].empty()) << row[0] << " to " << row[1];
  }
  EXPECT_EQ(listed, allowed_changes());
}

TEST(StateMachinePage, DrawsEveryAllowedTransition) {
  std::vector<Change> drawn;
  for (const std::string& line : testing_support::lines_of_page("docs/state-machine.md")) {
    const std::size_t arrow = line.find(kArrow);
    if (arrow == std::string::npos || !line.starts_with("    ")) continue;
    drawn.emplace_back(testing_support::trimmed(line.substr(0, arrow)),
                       line.substr(arrow + kArrow.size()));
  }
  ASSERT_FALSE(drawn.empty());
  EXPECT_EQ(drawn.front(), (Change{"[*]", "running"}));
  drawn.erase(drawn.begin());
  EXPECT_EQ(drawn, allowed_changes());
}

}  // namespace
}  // namespace perdure
