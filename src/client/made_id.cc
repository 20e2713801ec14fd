#include "client/made_id.h"

#include "base/random.h"

namespace perdure::client {

std::string made_id() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id;
  for (int half = 0; half < 2; ++half) {
    std::uint64_t bits = system_bits();
    for (int digit = 0; digit < 16; ++digit, bits >>= 4U) id += kDigits[bits & 15U];
  }
  return id;
}

std::string request_id_or_made(std::string_view given) {
  return given.empty() ? "auto-" + made_id() : std::string(given);
}

}  // namespace perdure::client
