#include "server/kubernetes/watch/workload_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Pointee;

WorkloadName Logs(const std::string& group) { return {"logging", "daemonset", "fluentd", "", group}; }

const PodPtr kNoPod;

TEST(WorkloadIndex, PodsOfAGroupAreApartAndOfTheWholeToo) {
  WorkloadIndex index;
  const WorkloadIndex::Place large = index.Put("logging/Pod/a", &kNoPod, Logs("large"));
  const WorkloadIndex::Place none = index.Put("logging/Pod/b", &kNoPod, Logs(""));
  EXPECT_EQ(large.key, "logging/daemonset/fluentd@large");
  EXPECT_EQ(*large.workload, Logs("large"));
  EXPECT_THAT(index.Find(large.key), Pointee(ElementsAre(Key("logging/Pod/a"))));
  EXPECT_THAT(index.PodsOfAll(none.key), ElementsAre("logging/Pod/b", "logging/Pod/a"));
  EXPECT_THAT(index.GroupsOf(Logs("large")), ElementsAre("", "large")) << "of the whole workload";
  EXPECT_TRUE(index.IsSplit(Logs("")));
  EXPECT_THAT(index.Kinds(), ElementsAre("daemonset"));
}

TEST(WorkloadIndex, ForgetsGroupsAndWorkloadsWithoutPods) {
  WorkloadIndex index;
  const WorkloadIndex::Place large = index.Put("logging/Pod/a", &kNoPod, Logs("large"));
  const WorkloadIndex::Place small = index.Put("logging/Pod/b", &kNoPod, Logs("small"));
  index.Remove("logging/Pod/a", large);
  EXPECT_EQ(index.Find(large.key), nullptr);
  EXPECT_THAT(index.GroupsOf(Logs("")), ElementsAre("small"));
  index.Remove("logging/Pod/b", small);
  EXPECT_FALSE(index.IsSplit(Logs("")));
  EXPECT_THAT(index.Kinds(), IsEmpty());
}

}  // namespace
}  // namespace taut::server
