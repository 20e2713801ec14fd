#include <filesystem>

#include <gtest/gtest.h>

#include <perdure/errors.h>
#include <perdure/open.h>

#include "client/throw_error.h"
#include "provider/provider.h"
#include "tests/support/temp_dir.h"

namespace perdure {

namespace {

TEST(Open, GivesAStoreThatCanBeUsed) {
  support::TempDir dir;
  const std::shared_ptr<Provider> store = open("sqlite:" + dir.file("store.db"));
  EXPECT_TRUE(std::filesystem::exists(dir.file("store.db")));
  EXPECT_EQ(store->get_instance("nobody").code(), ErrorCode::kNotFound);
}

TEST(Open, ThrowsWithTheSchemeThatIsNotKnown) {
  try {
    open("oracle://db/orders");
    FAIL() << "no such scheme";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("oracle://db/orders"), std::string::npos);
  }
}

TEST(ThrowError, TellsTheCallerTheSameInThePublicTypes) {
  EXPECT_THROW(throw_error(invalid_argument("x")), InvalidArgument);
  EXPECT_THROW(throw_error(not_found("x")), NotFound);
  EXPECT_THROW(throw_error(conflict("x")), Conflict);
  EXPECT_THROW(throw_error(lock_lost("x")), Conflict);
  EXPECT_THROW(throw_error(busy("x")), Unavailable);
  EXPECT_THROW(throw_error(unavailable("x")), Unavailable);
  EXPECT_THROW(throw_error(corrupt("x")), Unavailable);
  try {
    throw_error(commit_unknown("disk"));
  } catch (const Unavailable& error) {
    EXPECT_STREQ(error.what(), "it is not known whether the call took place: disk");
  }
}

}  // namespace

}  // namespace perdure
