#include "server/control/kept_state.h"

#include <gmock/gmock.h>

#include "server/control/component_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

using KeptStateTest = ComponentTest;

TEST_F(KeptStateTest, AnotherOfTheSameNameReadsIt) {
  KeptState state("machines", "the state of machines", context_);
  EXPECT_EQ(*state.Read(), std::nullopt);
  EXPECT_TRUE(state.Write("known").ok());
  EXPECT_THAT(*KeptState("machines", "", context_).Read(), Optional(std::string("known")));
  EXPECT_EQ(*KeptState("capacity", "", context_).Read(), std::nullopt);
  EXPECT_TRUE(state.Write("").ok());
  EXPECT_EQ(*state.Read(), std::nullopt);
}

TEST_F(KeptStateTest, FailuresAreLoggedOnceAndCounted) {
  KeptState state("machines", "the state of machines", context_);
  store_.states().fails = absl::UnavailableError("the disk is full");
  for (int i = 0; i < 3; ++i) state.WriteOrLog("known");
  EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("the state of machines: the disk is full")));
  EXPECT_EQ(state.failed_writes(), 3U);
  store_.states().fails = absl::OkStatus();
  state.WriteOrLog("known");
  state.WriteOrLog("known");
  EXPECT_THAT(log_.lines(), testing::SizeIs(2)) << "and their end is";
}

TEST_F(KeptStateTest, AStoreInMemoryKeepsNothing) {
  context_.store_path = "memory";
  KeptState state("machines", "the state of machines", context_);
  EXPECT_FALSE(state.kept());
  EXPECT_TRUE(state.Write("known").ok());
  EXPECT_EQ(*state.Read(), std::nullopt);
  EXPECT_THAT(log_.lines(), IsEmpty());
}

}  // namespace
}  // namespace taut::server
