#include "provider/open/open.h"

#include <utility>

#include <perdure/open.h>

#include "client/throw_error.h"

namespace perdure {

std::shared_ptr<Provider> open(const std::string& url) {
  auto provider = open_provider(url);
  if (!provider.ok()) throw_error(provider.error());
  return std::move(provider).value();
}

}  // namespace perdure
