#pragma once

#include <string>
#include <vector>

#include "provider/process_requests.h"
#include "provider/read_requests.h"
#include "provider/run_requests.h"
#include "provider/sqlite/connection.h"

/// The reads of the contract. They throw SqliteError.
namespace perdure::sqlite {

Batch<HistoryPage> read_history(Connection& db, const std::vector<HistoryQuery>& queries);
Result<InstanceInfo> get_instance(Connection& db, const std::string& id);
Result<ExecutionInfo> get_execution(Connection& db, const std::string& id, ExecutionNo execution);
Result<RequestState> get_request(Connection& db, const RequestQuery& query);  // run_requests.cc
std::vector<ProcessInfo> list_processes(Connection& db);

}  // namespace perdure::sqlite
