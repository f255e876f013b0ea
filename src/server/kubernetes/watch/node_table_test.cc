#include "server/kubernetes/watch/node_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <tuple>

#include "common/base/strings.h"
#include "server/kubernetes/watch/cluster.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Node NodeOf(const std::string& name, double cores, std::vector<std::pair<std::string, std::string>> labels,
            std::vector<NodeTaint> taints = {}) {
  return {name, {cores, 1024 * kMebibyte}, true, std::move(labels), std::move(taints)};
}

// Returns a pod, parsed from a list, whose spec has these members.
Pod PodWith(const std::string& spec) {
  ObjectParser parser;
  ListMeta meta;
  Pod out;
  const std::string list = StrCat(
      R"({"kind":"PodList","metadata":{},"items":[{"metadata":{"namespace":"shop","name":"p"},"spec":{)",
      spec, R"("containers":[]}}]})");
  EXPECT_TRUE(parser.ParseList<Pod>(list, meta, [&out](Pod&& pod) { out = std::move(pod); }).ok());
  return out;
}

std::string Affinity(const std::string& terms) {
  return StrCat(
      R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)",
      terms, "]}}},");
}

std::string Expression(const std::string& key, const std::string& op, const std::string& values = "") {
  return StrCat(R"({"matchExpressions":[{"key":")", key, R"(","operator":")", op, R"(","values":[)", values,
                "]}]}");
}

TEST(NodeFilter, MatchesAsTheSchedulerDoes) {
  const Node node = NodeOf("n1", 4, {{"pool", "small"}, {"cores", "16"}, {"zone", ""}});
  for (const auto& [spec, selects] : std::vector<std::tuple<std::string, bool>>{
           {"", true},
           {R"("nodeSelector":{"pool":"small"},)", true},
           {R"("nodeSelector":{"pool":"small","disk":"ssd"},)", false},
           {R"("nodeSelector":{"zone":""},)", true},
           {R"("nodeSelector":{"disk":""},)", false},
           {Affinity(Expression("pool", "In", R"("large","small")")), true},
           {Affinity(Expression("pool", "In", R"("large")")), false},
           {Affinity(Expression("disk", "In", R"("")")), false},
           {Affinity(Expression("pool", "NotIn", R"("large")")), true},
           {Affinity(Expression("pool", "NotIn", R"("small")")), false},
           {Affinity(Expression("disk", "NotIn", R"("ssd")")), true},
           {Affinity(Expression("pool", "Exists")), true},
           {Affinity(Expression("disk", "Exists")), false},
           {Affinity(Expression("disk", "DoesNotExist")), true},
           {Affinity(Expression("pool", "DoesNotExist")), false},
           {Affinity(Expression("cores", "Gt", R"("8")")), true},
           {Affinity(Expression("cores", "Gt", R"("16")")), false},
           {Affinity(Expression("cores", "Lt", R"("32")")), true},
           {Affinity(Expression("pool", "Lt", R"("32")")), false},
           {Affinity(Expression("disk", "Gt", R"("8")")), false},
           {Affinity(Expression("pool", "Near", R"("small")")), false},
           // Terms are alternatives, and an empty term selects nothing.
           {Affinity(StrCat(Expression("disk", "Exists"), ",", Expression("pool", "Exists"))), true},
           {Affinity("{}"), false},
           {Affinity(""), false},
           {Affinity(R"({"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["n1"]}]})"),
            false},
           {Affinity(R"({"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["n2"]}]})"),
            true},
           {Affinity(R"({"matchFields":[{"key":"spec.unschedulable","operator":"In","values":["n1"]}]})"),
            false},
       }) {
    const Pod pod = PodWith(spec);
    EXPECT_EQ(Selects(pod.nodes.get(), node), selects) << spec;
    EXPECT_EQ(pod.pinned_node, "") << spec;
  }
}

TEST(NodeFilter, ToleratesTaintsAsTheSchedulerDoes) {
  const Node node = NodeOf("n1", 4, {}, {{"dedicated", "gpu", "NoSchedule"}});
  for (const auto& [toleration, tolerates] : std::vector<std::tuple<std::string, bool>>{
           {"", false},
           {R"({"operator":"Exists"})", true},
           {R"({"key":"dedicated","operator":"Exists"})", true},
           {R"({"key":"dedicated","value":"gpu"})", true},
           {R"({"key":"dedicated","value":"gpu","effect":"NoSchedule"})", true},
           {R"({"key":"dedicated","value":"gpu","effect":"NoExecute"})", false},
           {R"({"key":"dedicated","operator":"Equal","value":"cpu"})", false},
           {R"({"key":"other","operator":"Exists"})", false},
       }) {
    const Pod pod = PodWith(StrCat(R"("tolerations":[)", toleration, "],"));
    EXPECT_EQ(Tolerates(pod.nodes.get(), node), tolerates) << toleration;
  }
}

TEST(NodeFilter, ThatOfADaemonSetsPodIsOneForAllAndNamesItsNode) {
  const std::string own = R"("nodeSelector":{"pool":"small"},"tolerations":[
      {"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute"}],)";
  const auto pinned = [](const std::string& node) {
    return Affinity(
        StrCat(R"({"matchFields":[{"key":"metadata.name","operator":"In","values":[")", node, R"("]}]})"));
  };
  const Pod one = PodWith(own + pinned("n1")), other = PodWith(own + pinned("n2"));
  EXPECT_EQ(one.pinned_node, "n1");
  EXPECT_EQ(other.pinned_node, "n2");
  ASSERT_NE(one.nodes, nullptr);
  EXPECT_EQ(one.nodes->key, "nodeSelector pool=small");
  EXPECT_EQ(one.nodes->key, other.nodes->key);
  EXPECT_EQ(PodWith(pinned("n1")).nodes, nullptr);
}

TEST(NodeFilter, ANodesTaintsAreReadWithoutThoseOfTheCluster) {
  ObjectParser parser;
  ListMeta meta;
  std::vector<Node> nodes;
  ASSERT_TRUE(
      parser
          .ParseList<Node>(
              R"({"kind":"NodeList","metadata":{},"items":[{"metadata":{"name":"n1","labels":{"pool":"small"}},
      "spec":{"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"},
                        {"key":"spot","value":"true","effect":"PreferNoSchedule"},
                        {"key":"gpu","value":"a","effect":"NoExecute"}]},
      "status":{"allocatable":{"cpu":"3500m","memory":"8Gi"},"conditions":[{"type":"Ready","status":"True"}]}}]})",
              meta, [&](Node&& node) { nodes.push_back(std::move(node)); })
          .ok());
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0].taints, (std::vector<NodeTaint>{{"gpu", "a", "NoExecute"}}));
  EXPECT_THAT(nodes[0].labels, ElementsAre(std::pair("pool", "small")));
  EXPECT_EQ(nodes[0].allocatable, (Amounts{3.5, 8192 * kMebibyte}));
  EXPECT_TRUE(nodes[0].is_ready);
}

class Nodes : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.nodes().Replace({NodeOf("gpu-1", 64, {{"pool", "gpu"}}, {{"gpu", "", "NoSchedule"}}),
                              NodeOf("large-1", 32, {{"pool", "large"}}),
                              NodeOf("small-1", 4, {{"pool", "small"}}),
                              NodeOf("small-2", 8, {{"pool", "small"}})});
  }
  std::string CpuFor(const std::string& spec) {
    const LargestNode largest = cluster_.nodes().LargestFor(PodWith(spec));
    return StrCat(largest.amounts.cpu.value_or(-1), " by ", largest.ByText(Resource::kCpu));
  }
  Cluster cluster_{{}};
};

TEST_F(Nodes, TheLargestIsOneThatThePodMayRunOn) {
  EXPECT_EQ(CpuFor(""), "32 by the largest node for its tolerations (large-1)");
  EXPECT_EQ(CpuFor(R"("tolerations":[{"operator":"Exists"}],)"), "64 by the largest node (gpu-1)");
  EXPECT_EQ(CpuFor(R"("nodeSelector":{"pool":"small"},)"),
            "8 by the largest node for nodeSelector pool=small (small-2)");
  EXPECT_EQ(CpuFor(Affinity(Expression("pool", "In", R"("gpu","small")"))),
            "8 by the largest node for its tolerations (small-2)");
  EXPECT_EQ(CpuFor(Affinity(Expression("pool", "NotIn", R"("gpu","large")"))),
            "8 by the largest node for node affinity pool not in (gpu, large) (small-2)");
  // The size of future nodes of an empty pool is unknown.
  EXPECT_EQ(CpuFor(R"("nodeSelector":{"pool":"empty"},)"), "64 by the largest node (gpu-1)");
  EXPECT_EQ(
      CpuFor(Affinity(R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["small-1"]}]})")),
      "4 by the largest node (small-1)");
}

TEST_F(Nodes, TheLargestFollowsTheNodes) {
  const std::string small = R"("nodeSelector":{"pool":"small"},)";
  EXPECT_EQ(CpuFor(small), "8 by the largest node for nodeSelector pool=small (small-2)");
  cluster_.nodes().Put(NodeOf("small-3", 16, {{"pool", "small"}}));
  EXPECT_EQ(CpuFor(small), "16 by the largest node for nodeSelector pool=small (small-3)");
  cluster_.nodes().Put(NodeOf("small-3", 16, {{"pool", "other"}}));
  EXPECT_EQ(CpuFor(small), "8 by the largest node for nodeSelector pool=small (small-2)");
  cluster_.nodes().Put(NodeOf("small-2", 8, {{"pool", "small"}}, {{"team", "a", "NoSchedule"}}));
  EXPECT_EQ(CpuFor(small), "4 by the largest node for nodeSelector pool=small and its tolerations (small-1)");
  cluster_.nodes().Remove(NodeOf("small-2", 8, {}));
  EXPECT_EQ(CpuFor(small), "4 by the largest node for nodeSelector pool=small (small-1)");
}

TEST_F(Nodes, PodsOfOneJobHaveWhatFitsAllOfTheirTemplates) {
  const auto ptr = [](Pod pod) { return std::make_shared<const Pod>(std::move(pod)); };
  const Pod small = PodWith(R"("nodeSelector":{"pool":"small"},)"),
            large = PodWith(R"("nodeSelector":{"pool":"large"},)");
  EXPECT_EQ(cluster_.nodes().LargestFor(std::vector<PodPtr>{ptr(large), ptr(large)}).amounts.cpu, 32);
  EXPECT_EQ(cluster_.nodes().LargestFor(std::vector<PodPtr>{ptr(large), ptr(small)}).amounts.cpu, 8)
      << "during a rollout";
  EXPECT_EQ(cluster_.nodes().LargestFor(std::vector<PodPtr>()).amounts.cpu, 32);
  Pod on_small = small, on_gpu = large, on_gone = small;
  on_small.pinned_node = "small-1";
  on_gpu.pinned_node = "gpu-1";
  on_gone.pinned_node = "gone";
  const LargestNode of_set = cluster_.nodes().LargestFor(std::vector<PodPtr>{ptr(on_small), ptr(on_gpu)});
  EXPECT_EQ(of_set.amounts.cpu, 64) << "a DaemonSet's";
  EXPECT_EQ(of_set.ByText(Resource::kCpu), "the largest node (gpu-1)");
  EXPECT_EQ(cluster_.nodes().LargestFor(std::vector<PodPtr>{ptr(on_gone)}).amounts.cpu, 8);
}

TEST_F(Nodes, PodsOfOneTemplateShareTheirFilter) {
  Pod a = PodWith(R"("nodeSelector":{"pool":"small"},)"), b = PodWith(R"("nodeSelector":{"pool":"small"},)");
  a.name = "a";
  b.name = "b";
  ASSERT_NE(a.nodes, b.nodes);
  cluster_.pods().Replace({a, b});
  std::vector<const NodeFilter*> filters;
  cluster_.pods().ForEach(
      [&](const PodPtr& pod, const WorkloadName& /*workload*/) { filters.push_back(pod->nodes.get()); });
  ASSERT_EQ(filters.size(), 2U);
  EXPECT_EQ(filters[0], filters[1]);
}

TEST(NodeTable, GroupsAreTheValuesOfALabel) {
  std::vector<std::string> heard;
  NodeTable table("pool", [&heard](const std::vector<std::string>& nodes) { heard = nodes; });
  const auto put = [&](Node node) {
    heard.clear();
    table.Put(std::move(node));
    return heard;
  };
  EXPECT_THAT(put(NodeOf("a", 1, {{"pool", "small"}})), ElementsAre("a"));
  EXPECT_EQ(table.GroupOf("a"), "small");
  EXPECT_EQ(table.GroupOf("b"), std::nullopt);
  EXPECT_THAT(put(NodeOf("b", 1, {})), ElementsAre("b"));
  EXPECT_EQ(table.GroupOf("b"), "");
  EXPECT_THAT(put(NodeOf("b", 2, {})), IsEmpty()) << "it changed, and its group did not";
  EXPECT_THAT(put(NodeOf("b", 2, {{"pool", "small"}})), ElementsAre("b"));
  table.Replace({NodeOf("a", 1, {{"pool", "small"}}), NodeOf("b", 1, {{"pool", "large"}})});
  EXPECT_THAT(heard, ElementsAre("b"));
  table.Remove(NodeOf("b", 1, {}));
  EXPECT_EQ(table.GroupOf("b"), std::nullopt);
  EXPECT_EQ(NodeTable("").GroupOf("a"), std::nullopt);
}

TEST(NodeTable, TheGroupsWithTheMostNodesCountAndKeepTheirPlace) {
  std::vector<Node> nodes;
  const size_t groups = 200;
  for (size_t g = 0; g < groups; ++g) {
    for (size_t i = 0; i <= g; ++i)
      nodes.push_back(NodeOf(StrCat("n", g, "-", i), 1, {{"pool", StrCat("p", g)}}));
  }
  NodeTable table("pool");
  table.Replace(nodes);
  EXPECT_EQ(table.num_groups_left_out(), groups - NodeTable::kMostGroups);
  EXPECT_EQ(table.GroupOf("n199-0"), "p199");
  EXPECT_EQ(table.GroupOf("n168-0"), "p168");
  EXPECT_EQ(table.GroupOf("n167-0"), "") << "one of those that are left out";
  // A group that grows does not displace a group in use.
  for (int i = 0; i < 300; ++i) table.Put(NodeOf(StrCat("more-", i), 1, {{"pool", "p0"}}));
  EXPECT_EQ(table.GroupOf("n0-0"), "");
  table.Replace(nodes);
  EXPECT_EQ(table.GroupOf("n168-0"), "p168");
}

}  // namespace
}  // namespace taut::server
