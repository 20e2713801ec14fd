#include "provider/open/open.h"

#include <string_view>
#include <utility>

#include "provider/sqlite/options.h"

namespace perdure {

namespace {

constexpr std::string_view kSqlite = "sqlite:";

Result<sqlite::Durability> parse_durability(std::string_view value) {
  if (value == "full") return sqlite::Durability::kFull;
  if (value == "relaxed") return sqlite::Durability::kRelaxed;
  return invalid_argument("durability '" + std::string(value) + "' is neither full nor relaxed");
}

Status apply_parameter(std::string_view parameter, sqlite::Options& options) {
  const std::size_t equals = parameter.find('=');
  const std::string_view name = parameter.substr(0, equals);
  if (name != "durability" || equals == std::string_view::npos) {
    return invalid_argument("unknown parameter '" + std::string(parameter) +
                            "' in the store URL; known: durability=full|relaxed");
  }
  PERDURE_ASSIGN_OR_RETURN(options.durability, parse_durability(parameter.substr(equals + 1)));
  return {};
}

Result<std::unique_ptr<Provider>> open_sqlite(std::string_view rest, sqlite::Options options) {
  const std::size_t question = rest.find('?');
  options.path = std::string(rest.substr(0, question));
  if (question != std::string_view::npos) {
    PERDURE_RETURN_IF_ERROR(apply_parameter(rest.substr(question + 1), options));
  }
  return sqlite::open(options);
}

Result<std::unique_ptr<Provider>> open_any(const std::string& url, Clock& clock, bool read_only) {
  const std::string_view view = url;
  if (view.substr(0, kSqlite.size()) == kSqlite) {
    sqlite::Options options;
    options.read_only = read_only;
    options.clock = &clock;
    return open_sqlite(view.substr(kSqlite.size()), std::move(options));
  }
  return invalid_argument("the store URL '" + url +
                          "' has no known scheme; known: sqlite:PATH, sqlite::memory:");
}

}  // namespace

Result<std::unique_ptr<Provider>> open_provider(const std::string& url, Clock& clock) {
  return open_any(url, clock, false);
}

Result<std::unique_ptr<Provider>> open_provider_for_reading(const std::string& url, Clock& clock) {
  return open_any(url, clock, true);
}

}  // namespace perdure
