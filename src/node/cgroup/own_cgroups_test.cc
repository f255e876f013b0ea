#include "node/cgroup/own_cgroups.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::node {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(OwnCgroups, AreTheLastFieldsOfEachLineOnce) {
  EXPECT_THAT(ParseOwnCgroups("5:memory:/a/b\n4:cpu,cpuacct:/\n3:name=systemd:/a/b\n0::/x:y\n"),
              ElementsAre("/a/b", "/x:y"));
  EXPECT_THAT(ParseOwnCgroups("0::/\n"), IsEmpty());
  EXPECT_THAT(ParseOwnCgroups("nonsense\n0:\n\n0::relative"), IsEmpty());
}

}  // namespace
}  // namespace taut::node
