#include "provider/client_requests.h"

#include <gtest/gtest.h>

#include "model/code_tables_test.h"
#include "model/doc_tables_test.h"

namespace perdure {
namespace {

using ProviderEnums = testing::Types<StartOutcome, EventDelivery>;
INSTANTIATE_TYPED_TEST_SUITE_P(Provider, CodeTables, ProviderEnums, EnumNames);

TEST(StorageFormatPage, ListsTheCodesOfAnswersKeptUnderRequestIds) {
  const auto tables = testing_support::doc_tables("docs/storage-format.md");
  testing_support::expect_listed<StartOutcome>(tables);
  testing_support::expect_listed<EventDelivery>(tables);
}

}  // namespace
}  // namespace perdure
