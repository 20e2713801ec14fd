#include "client/checked_id.h"

#include "client/throw_error.h"
#include "model/ids.h"

namespace perdure::client {

std::string checked_id(std::string_view field, std::string_view id) {
  if (const Status bad = check_id(field, id); !bad.ok()) throw_error(bad.error());
  return std::string(id);
}

}  // namespace perdure::client
