#include "cli/store_client.h"

#include <memory>
#include <utility>

#include <CLI/CLI.hpp>

#include "provider/open/open.h"

namespace perdure::cli {

namespace {

std::shared_ptr<Provider> opened(Result<std::unique_ptr<Provider>> store) {
  if (!store.ok()) throw Unavailable(store.error().message);
  return std::move(store).value();
}

std::shared_ptr<Provider> open_for_reading(const std::string& url) {
  if (url.empty()) {
    throw InvalidArgument("which store? Give --provider sqlite:PATH, or set PERDURE_PROVIDER");
  }
  return opened(open_provider_for_reading(url));
}

}  // namespace

void add_store_option(CLI::App& command, std::string& url) {
  command.add_option("--provider", url, "Store: sqlite:PATH, one that exists")
      ->envname("PERDURE_PROVIDER");
}

Client client_for_reading(const std::string& url) {
  return Client(open_for_reading(url));
}

Client client_for_writing(const std::string& url) {
  // Opening for writing would make a store that is missing and change the schema of an older one.
  open_for_reading(url);
  return Client(opened(open_provider(url)));
}

}  // namespace perdure::cli
