#include "server/kubernetes/watch/pod_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PodPtr PodOnNode(const std::string& node) {
  Pod out;
  out.node = node;
  return std::make_shared<const Pod>(std::move(out));
}

TEST(PodChanges, GivesThePodAsItIsNowAndOnce) {
  PodChanges changes;
  changes.NotePod("shop/Pod/web-1", PodOnNode("before"));
  const PodPtr now = PodOnNode("now");
  changes.NotePod("shop/Pod/web-1", now);
  EXPECT_THAT(changes.TakePods(), ElementsAre(now));
  EXPECT_THAT(changes.TakePods(), IsEmpty());
}

TEST(PodChanges, APodThatIsGoneCountsWhereAContainerWasKilled) {
  PodChanges changes;
  changes.NotePod("shop/Pod/web-1", PodOnNode("a"));
  changes.NotePod("shop/Pod/web-2", PodOnNode("a"));
  const PodPtr killed = PodOnNode("a");
  changes.NoteGone("shop/Pod/web-1", nullptr);
  changes.NoteGone("shop/Pod/web-2", killed);
  EXPECT_THAT(changes.TakePods(), ElementsAre(killed));
  EXPECT_THAT(changes.TakePods(), IsEmpty());
}

TEST(PodChanges, GivesWorkloadsAndControllersInOrderAndOnce) {
  PodChanges changes;
  for (const char* workload : {"shop/deployment/web", "shop/deployment/api", "shop/deployment/web"})
    changes.NoteWorkload(workload);
  EXPECT_THAT(changes.TakeWorkloads(), ElementsAre("shop/deployment/api", "shop/deployment/web"));
  EXPECT_THAT(changes.TakeWorkloads(), IsEmpty());
  const PodController web{"shop", "ReplicaSet", "web-1"};
  changes.NoteUnknownOwner(web);
  changes.NoteUnknownOwner(web);
  EXPECT_THAT(changes.TakeUnknownOwners(), ElementsAre(web));
  EXPECT_THAT(changes.TakeUnknownOwners(), IsEmpty());
}

}  // namespace
}  // namespace taut::server
