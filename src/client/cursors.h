#pragma once

#include <string>

#include "provider/management_requests.h"

/// Where a listing or a bulk delete goes on, as a text that callers hand back: opaque to them, and
/// good in another process too. Reading throws InvalidArgument, naming the field `after`, for a
/// text that was not written so.
namespace perdure::client {

std::string write_cursor(const ListCursor& cursor);
std::string write_cursor(const BulkCursor& cursor);
ListCursor read_list_cursor(const std::string& text);
BulkCursor read_bulk_cursor(const std::string& text);

}  // namespace perdure::client
