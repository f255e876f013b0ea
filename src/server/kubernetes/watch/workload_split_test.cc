#include "server/kubernetes/watch/workload_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "server/kubernetes/act/kubernetes_actuator.h"
#include "server/kubernetes/act/vpa_writer.h"
#include "server/kubernetes/watch/cluster.h"
#include "server/kubernetes/watch/pod_fixture.h"
#include "server/kubernetes/watch/pod_report.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Pod ReplicaOf(const std::string& name) {
  Pod out = TestPod(name);
  out.owner_kind = "StatefulSet";
  out.owner_name = "db";
  return out;
}

// Returns a pod of the DaemonSet fluentd.
Pod DaemonPod(const std::string& name, const std::string& node) {
  Pod out = TestPod(name);
  out.owner_kind = "DaemonSet";
  out.owner_name = "fluentd";
  out.node = out.pinned_node = node;
  return out;
}

OwnedObject Annotated(const std::string& name, const std::string& split) {
  OwnedObject out;
  out.namespace_name = "shop";
  out.name = name;
  out.split = split;
  return out;
}

Node InGroup(const std::string& name, const std::string& group) {
  Node out{name, {8, 16384 * kMebibyte}, true};
  if (!group.empty()) out.labels = {{"pool", group}};
  return out;
}

// Returns "shop/statefulset/db@0: db-0" for each pod.
std::vector<std::string> Places(const Cluster& cluster) {
  std::vector<std::string> out;
  cluster.pods().ForEach([&out](const PodPtr& pod, const WorkloadName& workload) {
    out.push_back(StrCat(WorkloadKey(workload), ": ", pod->name));
  });
  return out;
}

TEST(WorkloadSplit, IsWhatTheAnnotationSays) {
  EXPECT_EQ(SplitOf("StatefulSet", "", true), SplitBy::kNone);
  EXPECT_EQ(SplitOf("StatefulSet", "ordinal", false), SplitBy::kOrdinal);
  EXPECT_EQ(SplitOf("StatefulSet", "node", true), SplitBy::kNone);
  EXPECT_EQ(SplitOf("DaemonSet", "", true), SplitBy::kNode);
  EXPECT_EQ(SplitOf("DaemonSet", "none", true), SplitBy::kNone);
  EXPECT_EQ(SplitOf("DaemonSet", "", false), SplitBy::kNone);
  EXPECT_EQ(SplitOf("ReplicaSet", "ordinal", true), SplitBy::kNone);
  EXPECT_EQ(WrongSplit("StatefulSet", "ordinal", false), "");
  EXPECT_EQ(WrongSplit("DaemonSet", "none", false), "");
  EXPECT_EQ(WrongSplit("DaemonSet", "node", true), "");
  EXPECT_EQ(WrongSplit("DaemonSet", "node", false),
            "the annotation tautline.dev/split: node has no effect: kubernetes.node_group_label is not set");
  EXPECT_EQ(WrongSplit("StatefulSet", "ordinals", true),
            "the annotation tautline.dev/split: ordinals has no effect: expected none or ordinal for a "
            "StatefulSet");
}

TEST(WorkloadSplit, AnOrdinalIsTheEndOfThePodsName) {
  EXPECT_EQ(OrdinalGroup("db-0", "db"), "0");
  EXPECT_EQ(OrdinalGroup("db-31", "db"), "31");
  EXPECT_EQ(OrdinalGroup("db-32", "db"), "");
  EXPECT_EQ(OrdinalGroup("db-x2", "db"), "");
  EXPECT_EQ(OrdinalGroup("db-007", "db"), "");
  EXPECT_EQ(OrdinalGroup("db-", "db"), "");
  EXPECT_EQ(OrdinalGroup("other-1", "db"), "");
  EXPECT_EQ(OrdinalGroup("db-99999999999999999999", "db"), "");
}

TEST(WorkloadSplit, TheNameOfAJobHasTheGroup) {
  const ClusterNaming naming{"east", KubernetesJobs::kContainers};
  const WorkloadName name{"shop", "statefulset", "db", "app", "0"};
  EXPECT_EQ(naming.JobOf(name, "app"), "east/shop/statefulset/db@0/app");
  EXPECT_EQ(naming.Of(InKubernetes("east/shop/statefulset/db@0/app", "east")), name);
  EXPECT_EQ(naming.IdentityOf(name, "app").group, "0");
  EXPECT_EQ(naming.Of(InKubernetes("east/shop/job/import@2/app", "east"))->name, "import@2")
      << "a program may have any name";
}

TEST(WorkloadSplit, ReplicasOfAnAnnotatedStatefulSetAreJobsApart) {
  Cluster cluster({"", KubernetesJobs::kContainers});
  cluster.pods().Replace({ReplicaOf("db-0"), ReplicaOf("db-1"), ReplicaOf("db-32")});
  EXPECT_THAT(Places(cluster), ElementsAre("shop/statefulset/db: db-0", "shop/statefulset/db: db-1",
                                           "shop/statefulset/db: db-32"));
  (void)cluster.changes().TakePods();
  cluster.splits().Put("StatefulSet", Annotated("db", "ordinal"));
  EXPECT_THAT(Places(cluster), ElementsAre("shop/statefulset/db@0: db-0", "shop/statefulset/db@1: db-1",
                                           "shop/statefulset/db: db-32"));
  EXPECT_EQ(cluster.changes().TakePods().size(), 3U) << "their series are others";
  const WorkloadName db{"shop", "statefulset", "db", "app"};
  EXPECT_THAT(cluster.pods().GroupsOf(db), ElementsAre("", "0", "1"));
  EXPECT_TRUE(cluster.pods().IsSplit(db));
  EXPECT_EQ(cluster.pods().Of(db).size(), 1U);
  EXPECT_EQ(cluster.pods().OfAll(db).size(), 3U);
  EXPECT_EQ(WorkloadKey(cluster.pods().WorkloadOf(ReplicaOf("db-7"))), "shop/statefulset/db@7")
      << "a new pod";
  cluster.pods().Put(ReplicaOf("db-2"));
  EXPECT_THAT(cluster.pods().GroupsOf(db), ElementsAre("", "0", "1", "2"));
  cluster.pods().Remove(ReplicaOf("db-2"));
  EXPECT_THAT(cluster.pods().GroupsOf(db), ElementsAre("", "0", "1"));
  cluster.splits().Replace("DaemonSet", {});
  EXPECT_TRUE(cluster.pods().IsSplit(db)) << "another kind";
  cluster.splits().Replace("StatefulSet", {Annotated("db", "ordinals")});
  EXPECT_FALSE(cluster.pods().IsSplit(db));
  EXPECT_EQ(cluster.pods().Of(db).size(), 3U);
  EXPECT_THAT(cluster.splits().WrongOf(db), HasSubstr("expected none or ordinal"));
  cluster.splits().Remove("StatefulSet", Annotated("db", ""));
  EXPECT_EQ(cluster.splits().WrongOf(db), "");
}

TEST(WorkloadSplit, PodsOfADaemonSetAreOfTheirNodesGroup) {
  Cluster cluster({"", KubernetesJobs::kContainers}, "pool");
  cluster.nodes().Replace({InGroup("n1", "small"), InGroup("n2", "large"), InGroup("n3", "")});
  cluster.pods().Replace({DaemonPod("f-1", "n1"), DaemonPod("f-2", "n2"), DaemonPod("f-3", "n3"),
                          DaemonPod("f-4", "n4"), ReplicaOf("db-0")});
  EXPECT_THAT(Places(cluster), ElementsAre("shop/statefulset/db: db-0", "shop/daemonset/fluentd@small: f-1",
                                           "shop/daemonset/fluentd@large: f-2", "shop/daemonset/fluentd: f-3",
                                           "shop/daemonset/fluentd: f-4"));
  cluster.nodes().Put(InGroup("n4", "small"));  // the pod arrived before its node
  cluster.nodes().Put(InGroup("n2", "small"));  // the node's label has changed
  EXPECT_THAT(Places(cluster), ElementsAre("shop/statefulset/db: db-0", "shop/daemonset/fluentd@small: f-1",
                                           "shop/daemonset/fluentd@small: f-2", "shop/daemonset/fluentd: f-3",
                                           "shop/daemonset/fluentd@small: f-4"));
  cluster.nodes().Remove(InGroup("n1", ""));
  cluster.pods().Put(DaemonPod("f-1", "n1"));
  EXPECT_EQ(Places(cluster)[1], "shop/daemonset/fluentd@small: f-1") << "it outlives its node";
  Pod fresh = DaemonPod("f-9", "n2");
  fresh.node.clear();  // the webhook receives a pod before it is scheduled
  EXPECT_EQ(WorkloadKey(cluster.pods().WorkloadOf(fresh)), "shop/daemonset/fluentd@small");
  cluster.splits().Put("DaemonSet", Annotated("fluentd", "none"));
  EXPECT_THAT(cluster.pods().GroupsOf({"shop", "daemonset", "fluentd", ""}), ElementsAre(""));
}

TEST(WorkloadSplit, NothingIsSyncedBeforeItIsKnownWhatIsSplit) {
  Cluster cluster({"", KubernetesJobs::kContainers}, "pool");
  cluster.splits().Await();
  cluster.pods().Replace({ReplicaOf("db-0")});
  EXPECT_TRUE(cluster.pods().size().has_value());
  EXPECT_FALSE(cluster.synced());
  cluster.splits().Replace("StatefulSet", {Annotated("db", "ordinal")});
  cluster.splits().Replace("DaemonSet", {});
  EXPECT_FALSE(cluster.synced());
  cluster.nodes().Replace({});
  EXPECT_TRUE(cluster.synced());
  Cluster other({}, "pool");
  other.splits().Await();
  other.pods().Replace({});
  other.AwaitNothing();
  EXPECT_TRUE(other.synced());
}

// Returns "StatefulSet/db@0 #1" for each pod.
std::vector<std::string> OwnersOf(const Cluster& cluster) {
  HeardReports heard;
  ReportPods(cluster, Timestamp::FromSeconds(5), false, heard);
  std::vector<std::string> out;
  for (const std::string& fact : heard.facts) {
    const size_t owner = fact.find(" StatefulSet/");
    if (owner != std::string::npos) out.push_back(fact.substr(owner + 1));
  }
  return out;
}

TEST(WorkloadSplit, ItsFactsSayTheGroupAndAreNewOnesWithEachChange) {
  Cluster cluster({"", KubernetesJobs::kContainers});
  cluster.pods().Replace({ReplicaOf("db-0")});
  EXPECT_THAT(OwnersOf(cluster), ElementsAre("StatefulSet/db"));
  cluster.splits().Put("StatefulSet", Annotated("db", "ordinal"));
  EXPECT_THAT(OwnersOf(cluster), ElementsAre("StatefulSet/db@0 #1"));
  cluster.pods().Put(ReplicaOf("db-0"));
  EXPECT_THAT(OwnersOf(cluster), ElementsAre("StatefulSet/db@0 #1")) << "nothing has changed";
  cluster.splits().Remove("StatefulSet", Annotated("db", ""));
  EXPECT_THAT(OwnersOf(cluster), ElementsAre("StatefulSet/db@ #2")) << "a fact that replaces the one before";
  cluster.splits().Put("StatefulSet", Annotated("db", "ordinal"));
  EXPECT_THAT(OwnersOf(cluster), ElementsAre("StatefulSet/db@0 #3"));
}

class SplitActuator : public testing::Test {
 protected:
  SplitActuator() {
    owners_.ReplaceHpas({});
    owners_.ReplaceVpas({});
    owners_.ReplaceScaledObjects({});
    KubernetesActuator::Options options;
    options.scale = true;
    options.terms = [this](const std::string& /*job*/, Resource /*resource*/) { return terms_; };
    options.owners = &owners_;
    options.unix_s = [] { return 1000; };
    options.steady_s = [this] { return now_s_; };
    actuator_ = std::make_unique<KubernetesActuator>(std::move(options), &cluster_,
                                                     std::make_unique<ScriptedWriter>(&script_));
    cluster_.splits().Put("StatefulSet", Annotated("db", "ordinal"));
    cluster_.pods().Replace({ReplicaOf("db-0"), ReplicaOf("db-1"), ReplicaOf("db-2")});
  }
  void Order(uint64_t decision, const std::string& job, Target target, double value) {
    TargetOrder order;
    order.decision = decision;
    order.job = job;
    order.workload = InKubernetes(order.job);
    order.target = target;
    order.value = value;
    actuator_->Apply({&order, 1}, 1000);
    actuator_->Step();
  }
  std::vector<std::string> Outcomes() { return OutcomesOf(*actuator_); }

  double now_s_ = 100;
  PodTerms terms_;
  ScriptedWriter::Script script_;
  FieldOwners owners_;
  Cluster cluster_{ClusterNaming{"", KubernetesJobs::kContainers}};
  std::unique_ptr<KubernetesActuator> actuator_;
};

TEST_F(SplitActuator, AnOrderIsOfItsReplicaAlone) {
  Order(1, "shop/statefulset/db@0/app", Resource::kMemory, 256 * kMebibyte);
  EXPECT_THAT(script_.asked, ElementsAre(HasSubstr("resize shop/db-0 ")));
  EXPECT_THAT(actuator_->OrdersFor(ReplicaOf("db-0")), testing::SizeIs(1))
      << "the webhook gives it to the next db-0";
  EXPECT_THAT(actuator_->OrdersFor(ReplicaOf("db-1")), IsEmpty());
  script_.asked.clear();
  // Claims of another field manager apply to all groups.
  Vpa vpa;
  vpa.namespace_name = "shop";
  vpa.name = "db";
  vpa.target_kind = "StatefulSet";
  vpa.target_name = "db";
  owners_.PutVpa(vpa);
  now_s_ += 60;
  actuator_->Step();
  EXPECT_THAT(script_.asked, IsEmpty());
  EXPECT_THAT(
      Outcomes(),
      testing::Contains(HasSubstr("1 failed set on 0 of 1 pod; pod shop/db-0: the VerticalPodAutoscaler")));
}

TEST_F(SplitActuator, ATemplateAndANumberOfReplicasAreOfAllAndAreRefused) {
  terms_.in_template = true;
  Order(1, "shop/statefulset/db@0/app", Resource::kMemory, 256 * kMebibyte);
  EXPECT_THAT(Outcomes(),
              ElementsAre(HasSubstr("1 failed set on 0 of 1 pod; a template is that of all pods")));
  Order(2, "shop/statefulset/db@0/app", Target::Replicas(), 5);
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("2 failed the pods of this workload are several jobs")));
  Order(3, "shop/statefulset/db/app", Target::Replicas(), 5);
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("3 failed the pods of this workload are several jobs")));
  EXPECT_THAT(script_.asked, IsEmpty());
}

TEST_F(SplitActuator, NoNewPodGetsWhatIsOfAnotherJobBeforeTheSplitIsKnown) {
  Order(1, "shop/statefulset/db/app", Resource::kMemory, 256 * kMebibyte);
  Cluster fresh{ClusterNaming{"", KubernetesJobs::kContainers}};
  fresh.splits().Await();
  KubernetesActuator::Options options;
  options.owners = &owners_;
  options.unix_s = [] { return 1000; };
  options.steady_s = [this] { return now_s_; };
  KubernetesActuator restarted(std::move(options), &fresh, std::make_unique<ScriptedWriter>(&script_));
  restarted.LoadState(actuator_->SaveState());
  fresh.pods().Replace({ReplicaOf("db-0")});
  restarted.Step();
  EXPECT_THAT(script_.asked, IsEmpty());
  EXPECT_THAT(restarted.OrdersFor(ReplicaOf("db-0")), IsEmpty());
}

TEST(WorkloadSplit, AVpaHasWhatTheLargestGroupNeeds) {
  Cluster cluster({"", KubernetesJobs::kContainers});
  cluster.splits().Put("StatefulSet", Annotated("db", "ordinal"));
  cluster.pods().Replace({ReplicaOf("db-0"), ReplicaOf("db-1")});
  std::vector<std::string> sent;
  VpaWriter::Options options;
  options.advice = [](const WorkloadName& container, bool /*requests_only*/) {
    return container == WorkloadName{"shop", "statefulset", "db", "app", "0"} ? Amounts{2, 64 * kMebibyte}
                                                                              : Amounts{0.5, 128 * kMebibyte};
  };
  options.send = [&sent](const std::string& /*path*/, const std::string& patch) {
    sent.push_back(patch);
    return absl::OkStatus();
  };
  options.time = [] { return "t"; };
  options.steady_s = [] { return 1.0; };
  VpaWriter writer(std::move(options), &cluster);
  Vpa vpa;
  vpa.namespace_name = "shop";
  vpa.name = "db";
  vpa.recommender = "tautline";
  vpa.target_kind = "StatefulSet";
  vpa.target_name = "db";
  writer.Put(vpa);
  writer.Step([] { return false; });
  EXPECT_THAT(sent, ElementsAre(HasSubstr(R"("target":{"cpu":"2","memory":"128Mi"})")));
}

}  // namespace
}  // namespace taut::server
