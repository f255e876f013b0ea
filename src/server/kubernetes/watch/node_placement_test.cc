#include "server/kubernetes/watch/node_placement.h"

#include <gtest/gtest.h>

#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

Node TestNode(const std::string& name, bool ready = true) {
  Node node;
  node.name = name;
  node.allocatable = {8, 16384 * kMebibyte};
  node.is_ready = ready;
  return node;
}

TEST(NodePlacement, PutsContainersOnTheirNodes) {
  Cluster cluster({"east", KubernetesJobs::kContainers});
  const NodePlacement placement(&cluster);
  EXPECT_TRUE(placement.Placement().empty());
  cluster.nodes().Replace({TestNode("node-1"), TestNode("node-2", false)});
  Pod pod = TestPod("web-5d4f8c7b9d-aaaaa");
  pod.containers.push_back(TestContainer("side"));
  pod.containers[1].requests = pod.containers[1].actual_requests = {};
  pod.containers[1].limits = pod.containers[1].actual_limits = {0.5, std::nullopt};
  Pod ended = TestPod("web-5d4f8c7b9d-bbbbb"), elsewhere = TestPod("web-5d4f8c7b9d-ccccc");
  ended.is_ended = true;
  elsewhere.node = "node-9";  // an unknown node
  cluster.pods().Replace({pod, ended, elsewhere});

  const std::vector<PlacedMachine> machines = placement.Placement();
  ASSERT_EQ(machines.size(), 2U);
  EXPECT_EQ(machines[0].name, "node-1");
  EXPECT_EQ(machines[0].capacity[0], 8);
  EXPECT_TRUE(machines[0].ready);
  EXPECT_FALSE(machines[1].ready);
  EXPECT_TRUE(machines[1].tasks.empty());
  ASSERT_EQ(machines[0].tasks.size(), 2U);
  const PlacedTask& app = machines[0].tasks[0];
  EXPECT_EQ(app.job, "east/shop/deployment/web/app");
  EXPECT_EQ(app.task, "web-5d4f8c7b9d-aaaaa");
  EXPECT_FALSE(app.limits_measured);
  EXPECT_EQ(app.asked, (PlacedAmounts{0.1, 32 * kMebibyte}));
  EXPECT_EQ(app.cap, (PlacedAmounts{0.2, 64 * kMebibyte}));
  const PlacedTask& side = machines[0].tasks[1];
  EXPECT_EQ(side.asked, (PlacedAmounts{0.5, std::nullopt})) << "its limit, where it has no request";
  EXPECT_EQ(side.cap, (PlacedAmounts{0.5, std::nullopt}));
}

TEST(NodePlacement, ATaskOfWholePodsIsTheSumOfTheirContainers) {
  Cluster cluster({});
  cluster.nodes().Replace({TestNode("node-1")});
  Pod pod = TestPod();
  pod.containers.push_back(TestContainer("side"));
  pod.containers[1].limits = pod.containers[1].actual_limits = {0.5, std::nullopt};
  cluster.pods().Replace({pod});
  const std::vector<PlacedMachine> machines = NodePlacement(&cluster).Placement();
  ASSERT_EQ(machines[0].tasks.size(), 1U);
  EXPECT_EQ(machines[0].tasks[0].job, "shop/deployment/web");
  EXPECT_EQ(machines[0].tasks[0].asked, (PlacedAmounts{0.2, 64 * kMebibyte}));
  EXPECT_EQ(machines[0].tasks[0].cap, (PlacedAmounts{0.7, std::nullopt}))
      << "one container has no limit of memory";
}

// The current amounts count, not the amounts in the spec.
TEST(NodePlacement, TakesWhatTheKubeletSaysOfAPodThatIsResized) {
  Cluster cluster({"", KubernetesJobs::kContainers});
  cluster.nodes().Replace({TestNode("node-1")});
  Pod pod = TestPod();
  pod.containers[0].requests.memory = 512 * kMebibyte;
  cluster.pods().Replace({pod});
  EXPECT_EQ(NodePlacement(&cluster).Placement()[0].tasks[0].asked[1], 32 * kMebibyte);
}

}  // namespace
}  // namespace taut::server
