#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "provider/sqlite/statements.h"

/// The parts that the catalog of statements is made of.
namespace perdure::sqlite {

struct StatementEntry {
  Sql id;
  std::string_view name;
  std::string_view text;
};

inline constexpr Sql kFirstWork = Sql::kInsertWork;
inline constexpr Sql kFirstRequest = Sql::kFindRequest;
inline constexpr Sql kFirstManagement = Sql::kWriteMark;
inline constexpr Sql kFirstProcess = Sql::kInsertProcess;

/// Those from kFirstWork to kFirstRequest.
std::span<const StatementEntry> work_statements();
/// Those from kFirstRequest to kFirstManagement.
std::span<const StatementEntry> request_statements();
/// Those from kFirstManagement to kFirstProcess.
std::span<const StatementEntry> management_statements();
/// Those from kFirstProcess to the end.
std::span<const StatementEntry> process_statements();

/// Whether entry i is that of Sql number first + i.
constexpr bool in_order(std::span<const StatementEntry> entries, std::size_t first) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].id != static_cast<Sql>(first + i)) return false;
  }
  return true;
}

}  // namespace perdure::sqlite
