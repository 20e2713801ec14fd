#include "client/cursors.h"

#include <gtest/gtest.h>

#include <perdure/errors.h>

namespace perdure::client {

namespace {

TEST(Cursors, ComeBackAsTheyWere) {
  const ListCursor list{InstanceKey{42}};
  EXPECT_EQ(read_list_cursor(write_cursor(list)), list);
  const BulkCursor bulk{time_from_micros(-7), InstanceKey{42}, ExecutionNo{3}};
  EXPECT_EQ(read_bulk_cursor(write_cursor(bulk)), bulk);
}

TEST(Cursors, OfOthersAreRefusedByName) {
  for (const char* text : {"", "x", "1x", " 1", "1.2", "99999999999999999999"}) {
    EXPECT_THROW(read_list_cursor(text), InvalidArgument) << text;
  }
  for (const char* text : {"", "1", "1.2", "1.2.", "1.2.x", "1.2.3.4", "1 2 3"}) {
    EXPECT_THROW(read_bulk_cursor(text), InvalidArgument) << text;
  }
  try {
    read_list_cursor("tampered");
    FAIL() << "it is no cursor";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "after: 'tampered' is not the `next` of an earlier answer");
  }
}

}  // namespace

}  // namespace perdure::client
