#include "model/ids.h"

#include "base/utf8.h"

namespace perdure {

std::ostream& operator<<(std::ostream& out, const LockToken& token) {
  return out << token.epoch << ':' << token.serial;
}

std::string to_string(const LockToken& token) {
  return std::to_string(token.epoch.value) + ':' + std::to_string(token.serial);
}

Status check_id(std::string_view field, std::string_view id) {
  const auto refused = [field](std::string_view problem) {
    return invalid_argument(std::string(field) + " must be 1 to " + std::to_string(kMaxIdBytes) +
                            " bytes of UTF-8 without NUL, but " + std::string(problem));
  };
  if (id.empty()) return refused("it is empty");
  if (id.size() > kMaxIdBytes) return refused("it has " + std::to_string(id.size()) + " bytes");
  if (id.find('\0') != std::string_view::npos) return refused("it contains NUL");
  if (!is_valid_utf8(id)) return refused("it is not valid UTF-8");
  return {};
}

}  // namespace perdure
