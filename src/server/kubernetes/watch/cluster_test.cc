#include "server/kubernetes/watch/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/kubernetes/watch/pod_fixture.h"
#include "server/kubernetes/watch/pod_report.h"

namespace taut::server {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

std::vector<std::string> NamesOf(const std::vector<PodPtr>& pods) {
  std::vector<std::string> out;
  for (const PodPtr& pod : pods) out.push_back(pod->name);
  return out;
}

const WorkloadName kWeb{"shop", "deployment", "web", ""};

TEST(ClusterNaming, KnowsItsJobs) {
  const ClusterNaming pods, containers{"", KubernetesJobs::kContainers}, east{"east", KubernetesJobs::kPods};
  EXPECT_EQ(pods.Of(InKubernetes("shop/deployment/web")), kWeb);
  EXPECT_EQ(containers.Of(InKubernetes("shop/deployment/web/app")),
            (WorkloadName{"shop", "deployment", "web", "app"}));
  EXPECT_EQ(east.Of(InKubernetes("east/shop/deployment/web", "east")), kWeb);
  EXPECT_FALSE(pods.Of(InKubernetes("shop/deployment/web/app")).has_value());
  EXPECT_FALSE(east.Of(InKubernetes("shop/deployment/web")).has_value());
  EXPECT_FALSE(containers.Of(InKubernetes("shop/deployment/web")).has_value());
  EXPECT_FALSE(pods.Of(Workload()).has_value()) << "of no source yet";
  EXPECT_FALSE(pods.Of({.source = Source::kKubernetes, .namespace_name = "shop", .name = "web"}).has_value())
      << "its owner is not known";
  EXPECT_FALSE(
      pods.Of({.source = Source::kDocker, .namespace_name = "shop", .kind = "service", .name = "web"}));
}

TEST(ClusterNaming, NamesJobsAndKnowsThemAgain) {
  for (const KubernetesJobs jobs : {KubernetesJobs::kPods, KubernetesJobs::kContainers}) {
    for (const char* name : {"", "east"}) {
      const ClusterNaming naming{name, jobs};
      const std::optional<WorkloadName> known = naming.Of(naming.IdentityOf(kWeb, "app"));
      ASSERT_TRUE(known.has_value());
      EXPECT_EQ(known->name, "web");
      EXPECT_EQ(known->container, jobs == KubernetesJobs::kContainers ? "app" : "");
    }
  }
}

TEST(Cluster, KnowsContainersByTheirIds) {
  using Task = std::pair<std::string, std::string>;
  Cluster pods({}), containers({"east", KubernetesJobs::kContainers});
  for (Cluster* cluster : {&pods, &containers}) {
    Pod one = TestPod(kPodA), two = TestPod(kPodB);
    one.containers[0].id = "a1";
    two.containers = {TestContainer("app"), TestContainer("side")};
    two.containers[0].id = "b1";
    cluster->pods().Replace({one, two});
    two.containers[1].id = "b2";
    cluster->pods().Put(two);
  }
  EXPECT_EQ(pods.TaskOfContainer("a1"), Task("shop/deployment/web", kPodA));
  EXPECT_EQ(pods.TaskOfContainer("b1"), std::nullopt) << "a task is the whole pod";
  EXPECT_EQ(containers.TaskOfContainer("a1"), Task("east/shop/deployment/web/app", kPodA));
  EXPECT_EQ(containers.TaskOfContainer("b2"), Task("east/shop/deployment/web/side", kPodB));
  EXPECT_EQ(containers.TaskOfContainer(""), std::nullopt);
  Pod again = TestPod(kPodA);
  again.containers[0].id = "a2";
  containers.pods().Put(again);
  EXPECT_EQ(containers.TaskOfContainer("a1"), std::nullopt) << "it was started again";
  EXPECT_EQ(containers.TaskOfContainer("a2"), Task("east/shop/deployment/web/app", kPodA));
  containers.pods().Remove(again);
  EXPECT_EQ(containers.TaskOfContainer("a2"), std::nullopt);
}

TEST(Cluster, FollowsOwners) {
  Cluster cluster({});
  // Until the ReplicaSet is known, its name determines the Deployment.
  Pod pod = TestPod("web-5d4f8c7b9d-aaaaa");
  cluster.pods().Replace({pod});
  EXPECT_THAT(NamesOf(cluster.pods().Of(kWeb)), ElementsAre("web-5d4f8c7b9d-aaaaa"));
  (void)cluster.changes().TakeWorkloads();
  cluster.owners().Put("ReplicaSet", {"shop", "web-5d4f8c7b9d", "Rollout", "ingest"});
  EXPECT_THAT(cluster.pods().Of(kWeb), IsEmpty());
  EXPECT_THAT(NamesOf(cluster.pods().Of({"shop", "rollout", "ingest", ""})),
              ElementsAre("web-5d4f8c7b9d-aaaaa"));
  EXPECT_THAT(cluster.changes().TakeWorkloads(), ElementsAre("shop/deployment/web", "shop/rollout/ingest"));
  EXPECT_THAT(cluster.changes().TakeWorkloads(), IsEmpty());
}

Pod RunOf(const std::string& job, const std::string& image = "registry:5000/import:1") {
  Pod out = TestPod(StrCat(job, "-aaaaa"));
  out.owner_kind = "Job";
  out.owner_name = job;
  out.containers[0].image = image;
  return out;
}

TEST(Cluster, JobsOfOneProgramAreOneJob) {
  Cluster cluster({});
  const WorkloadName import{"shop", "job", "import", ""}, nightly{"shop", "job", "nightly", ""};
  OwnedObject one{"shop", "import-x2x4z", "", ""}, two{"shop", "by-hand", "", ""};
  one.program = "import";
  cluster.owners().Replace("Job", {one, two});
  cluster.pods().Replace({RunOf("import-x2x4z"), RunOf("import-20261125"), RunOf("by-hand")});
  EXPECT_THAT(NamesOf(cluster.pods().Of(import)), ElementsAre("import-x2x4z-aaaaa"))
      << "what is not known of a Job with a minute in its name is a CronJob's";
  cluster.owners().Put("Job", {"shop", "import-20261125", "", ""});
  EXPECT_THAT(NamesOf(cluster.pods().Of(import)), ElementsAre("import-20261125-aaaaa", "import-x2x4z-aaaaa"));
  // The label is set, then changed, then removed.
  two.program = "import";
  cluster.owners().Put("Job", two);
  EXPECT_EQ(cluster.pods().Of(import).size(), 3U);
  two.program = "nightly";
  cluster.owners().Put("Job", two);
  EXPECT_THAT(NamesOf(cluster.pods().Of(nightly)), ElementsAre("by-hand-aaaaa"));
  two.program = "";
  cluster.owners().Put("Job", two);
  EXPECT_THAT(NamesOf(cluster.pods().Of({"shop", "job", "by-hand", ""})), ElementsAre("by-hand-aaaaa"));
  // The facts contain the new name. Series of other sources then belong to the job whose limits are set.
  one.program = "nightly";
  cluster.owners().Put("Job", one);
  HeardReports heard;
  ReportPods(cluster, Timestamp{0}, false, heard);
  EXPECT_THAT(heard.facts, Contains("owner: shop/ProgramOfJob/import-x2x4z Program/nightly"));
  EXPECT_THAT(heard.facts, Not(Contains(HasSubstr("ProgramOfJob/by-hand"))));
  Pod waiting = RunOf("import-9kdlw");
  EXPECT_EQ(WorkloadKey(cluster.pods().WorkloadOf(waiting)), "shop/job/import")
      << "for the webhook, before the Job is seen";
  waiting.program = "load";
  EXPECT_EQ(WorkloadKey(cluster.pods().WorkloadOf(waiting)), "shop/job/load");
  cluster.pods().Put(waiting);
  EXPECT_EQ(cluster.pods().Of({"shop", "job", "load", ""}).size(), 1U);
  waiting.program = "";
  cluster.pods().Put(waiting);
  EXPECT_TRUE(cluster.pods().Of({"shop", "job", "load", ""}).empty());
  Pod lone = TestPod("ci-x2x4z");
  lone.owner_kind = lone.owner_name = "";
  lone.program = "ci";
  EXPECT_EQ(WorkloadKey(cluster.pods().WorkloadOf(lone)), "shop/pod/ci");
  cluster.pods().Put(lone);
  EXPECT_EQ(cluster.pods().Of({"shop", "pod", "ci", ""}).size(), 1U);
}

TEST(Cluster, AListReplacesWhatIsGone) {
  Cluster cluster({});
  EXPECT_FALSE(cluster.synced());
  cluster.pods().Replace({TestPod("web-5d4f8c7b9d-aaaaa"), TestPod("web-5d4f8c7b9d-bbbbb")});
  EXPECT_TRUE(cluster.synced());
  cluster.pods().Replace({TestPod("web-5d4f8c7b9d-bbbbb")});
  EXPECT_THAT(NamesOf(cluster.pods().Of(kWeb)), ElementsAre("web-5d4f8c7b9d-bbbbb"));
  EXPECT_THAT(NamesOf(cluster.changes().TakePods()), ElementsAre("web-5d4f8c7b9d-bbbbb"));
  cluster.pods().Remove(TestPod("web-5d4f8c7b9d-bbbbb"));
  EXPECT_THAT(cluster.pods().Of(kWeb), IsEmpty());
  EXPECT_EQ(cluster.pods().size(), 0U);
}

TEST(Cluster, GivesPodsThatRunOnly) {
  Cluster cluster({});
  Pod ended = TestPod("web-5d4f8c7b9d-aaaaa"), deleted = TestPod("web-5d4f8c7b9d-bbbbb");
  ended.is_ended = true;
  deleted.is_deleted = true;
  cluster.pods().Replace({ended, deleted, TestPod("web-5d4f8c7b9d-ccccc")});
  EXPECT_THAT(NamesOf(cluster.pods().Of(kWeb)), ElementsAre("web-5d4f8c7b9d-ccccc"));
  EXPECT_THAT(cluster.pods().Of({"shop", "deployment", "web", "other"}), IsEmpty());
}

TEST(Cluster, KnowsNodes) {
  Cluster cluster({});
  cluster.nodes().Replace({{"a", {4, 8 * kMebibyte}, true}, {"b", {}, false}});
  EXPECT_THAT(cluster.nodes().Ready(), ElementsAre("a"));
  EXPECT_EQ(cluster.nodes().Allocatable("a")->cpu, 4);
  EXPECT_FALSE(cluster.nodes().Allocatable("c").has_value());
  cluster.nodes().Remove({"a", {}, true});
  EXPECT_THAT(cluster.nodes().Ready(), IsEmpty());
}

// Returns the reports of all pods.
HeardReports ReportsOf(const Cluster& cluster, bool starts = false) {
  HeardReports heard;
  ReportPods(cluster, Timestamp::FromSeconds(5), starts, heard);
  EXPECT_THAT(heard.times_ms, testing::Each(5000));
  return heard;
}

TEST(PodReports, CountThePodsOfEachJob) {
  Pod ready = TestPod("web-5d4f8c7b9d-aaaaa"), starting = TestPod("web-5d4f8c7b9d-bbbbb"),
      ended = TestPod("web-5d4f8c7b9d-ccccc"), leaving = TestPod("web-5d4f8c7b9d-ddddd"),
      run = RunOf("import-x2x4z");
  for (Pod* const pod : {&ready, &starting, &ended, &leaving, &run}) pod->is_ready = pod != &starting;
  ready.containers.push_back(TestContainer("side"));
  ended.is_ended = true;
  leaving.is_deleted = true;
  const auto counts_of = [&](KubernetesJobs jobs) {
    Cluster cluster({.cluster = "", .jobs = jobs});
    cluster.pods().Replace({ready, starting, ended, leaving, run});
    std::vector<std::string> out = ReportsOf(cluster).said;
    std::erase_if(out, [](const std::string& said) { return said.find(" replicas") == std::string::npos; });
    return out;
  };
  EXPECT_THAT(counts_of(KubernetesJobs::kPods), UnorderedElementsAre("shop/deployment/web  replicas 2",
                                                                     "shop/deployment/web  replicas_ready 1"))
      << "not of Jobs, whose pods end by themselves";
  EXPECT_THAT(counts_of(KubernetesJobs::kContainers),
              UnorderedElementsAre(
                  "shop/deployment/web/app  replicas 2", "shop/deployment/web/app  replicas_ready 1",
                  "shop/deployment/web/side  replicas 1", "shop/deployment/web/side  replicas_ready 1"));
}

TEST(PodReports, SayWhenContainersStartedIfThatIsAskedFor) {
  Cluster cluster({.cluster = "", .jobs = KubernetesJobs::kPods});
  Pod pod = TestPod("web-5d4f8c7b9d-aaaaa");
  pod.containers[0].started_s = 1'700'000'000;
  Pod waits = TestPod("web-5d4f8c7b9d-bbbbb");
  waits.containers[0].running = false;
  cluster.pods().Replace({pod, waits});
  EXPECT_THAT(ReportsOf(cluster).said, Each(Not(HasSubstr("start_time"))));
  EXPECT_THAT(ReportsOf(cluster, true).said,
              Contains("shop/deployment/web web-5d4f8c7b9d-aaaaa[app] start_time 1700000000"));
  EXPECT_THAT(ReportsOf(cluster, true).said, Contains(HasSubstr("start_time")).Times(1));
}

TEST(PodReports, AreOfTheWorkloadsOfPods) {
  Cluster cluster({.cluster = "east", .jobs = KubernetesJobs::kContainers});
  Pod pod = TestPod("web-5d4f8c7b9d-aaaaa");
  pod.labels = {{"app.kubernetes.io/name", "web"}};
  pod.containers[0].restarts = 2;
  pod.containers[0].last_reason = "OOMKilled";
  pod.containers[0].ended_s = 1'700'000'000;
  cluster.owners().Put("ReplicaSet", {"shop", "web-5d4f8c7b9d", "Deployment", "web"});
  cluster.pods().Replace({pod});
  const HeardReports heard = ReportsOf(cluster);
  EXPECT_THAT(heard.facts, ElementsAre("owner: east/shop/ReplicaSet/web-5d4f8c7b9d Deployment/web",
                                       "owner: east/shop/Pod/web-5d4f8c7b9d-aaaaa ReplicaSet/web-5d4f8c7b9d",
                                       "pod_labels: east/shop/Pod/web-5d4f8c7b9d-aaaaa  "
                                       "app_kubernetes_io_name=web"));
  const std::string who = "east/shop/deployment/web/app web-5d4f8c7b9d-aaaaa ";
  EXPECT_THAT(
      heard.said,
      ElementsAre(StrCat(who, "cpu_limit_cores 0.2"), StrCat(who, "memory_limit_bytes 67108864"),
                  StrCat(who, "cpu_request_cores 0.1"), StrCat(who, "memory_request_bytes 33554432"),
                  StrCat(who, "waiting 0"), StrCat(who, "oom_reason 1"), StrCat(who, "last_ended 1700000000"),
                  StrCat(who, "restarts_total 2"), "east/shop/deployment/web/app  replicas 1",
                  "east/shop/deployment/web/app  replicas_ready 1"));
}

TEST(PodReports, ADeploymentsPodsAreItsOwnWhateverTheirReplicaSetsAreCalled) {
  Cluster cluster({});
  Pod odd = TestPod("ingest-1");
  odd.owner_name = "ingest";
  cluster.owners().Put("ReplicaSet", {"shop", "ingest", "Rollout", "storefront"});
  cluster.pods().Replace({odd});
  EXPECT_THAT(ReportsOf(cluster).said, Each(testing::StartsWith("shop/rollout/storefront ingest-1[app] ")));
}

TEST(PodReports, InitContainersAreNamedUntilThePodIsGone) {
  Cluster cluster({});
  Pod pod = TestPod("web-5d4f8c7b9d-aaaaa");
  pod.left_out = {"migrate"};
  cluster.pods().Replace({pod});
  EXPECT_THAT(ReportsOf(cluster).facts, Contains("init_container: shop/Pod/web-5d4f8c7b9d-aaaaa migrate"));
  const auto left_out = [&cluster](std::string_view container) {
    return cluster.containers().IsLeftOut("shop", "web-5d4f8c7b9d-aaaaa", container);
  };
  EXPECT_TRUE(left_out("migrate"));
  EXPECT_FALSE(left_out("app"));
  pod.left_out.push_back("debugger-x2x4z");  // a container that kubectl debug created
  cluster.pods().Put(pod);
  EXPECT_TRUE(left_out("migrate"));
  EXPECT_TRUE(left_out("debugger-x2x4z"));
  cluster.pods().Remove(pod);
  EXPECT_FALSE(left_out("migrate"));
}

// Without owner_limits, Tautline's own limit would count as the owner's.
TEST(PodReports, ALimitThatWeSetIsNotTheOwners) {
  Cluster cluster({});
  Pod resized = TestPod();
  resized.resized = resized.resized_by_us = true;
  resized.containers[0].limits = {0.3, 96 * kMebibyte};
  cluster.pods().Replace({resized});
  EXPECT_THAT(ReportsOf(cluster).said, Not(Contains(HasSubstr("_limit_"))))
      << "it was never seen with those of its owner";
}

TEST(PodReports, WhatAWholePodMayUseIsTheLimitOfItsContainers) {
  Cluster cluster({});
  Pod pod = TestPod();
  pod.containers.push_back(TestContainer("log"));
  pod.containers[0].limits.memory.reset();
  pod.pod_limits.memory = 96 * kMebibyte;
  cluster.pods().Replace({pod});
  EXPECT_THAT(ReportsOf(cluster).said, Contains(HasSubstr(StrCat("memory_limit_bytes ", 96 * kMebibyte))));
}

// A change by the owner counts even if the pod is resized at once.
TEST(PodReports, AResizedPodKeepsTheLimitsOfItsOwner) {
  Cluster cluster({});
  cluster.pods().Replace({TestPod()});
  Pod resized = TestPod();
  resized.resized = resized.resized_by_us = true;
  resized.containers[0].limits = {0.3, 96 * kMebibyte};
  cluster.pods().Put(resized);
  cluster.pods().Put(resized);
  EXPECT_THAT(ReportsOf(cluster).said, Contains(HasSubstr("cpu_limit_cores 0.2")));
  EXPECT_THAT(ReportsOf(cluster).said, Contains(HasSubstr("memory_limit_bytes 67108864")));
  resized.uid = "another pod of this name";
  cluster.pods().Put(resized);
  EXPECT_THAT(ReportsOf(cluster).said, Not(Contains(HasSubstr("_limit_"))));
}

TEST(UsageReports, TakesContainersOnly) {
  constexpr std::string_view kText = R"(# HELP container_cpu_usage_seconds_total x
# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{container="",cpu="total",id="/kubepods/burstable/pod1",namespace="shop",pod="web-0"} 9 1700000000123
container_cpu_usage_seconds_total{container="app",cpu="total",id="/k/1/a}\"b",namespace="shop",pod="web-0"} 1.5 1700000000123
container_memory_working_set_bytes{container="app",namespace="shop",pod="web-0"} 1e+06
container_memory_working_set_bytes{container="app",namespace="other",pod="web-0"} 7
container_memory_working_set_bytes{container="POD",namespace="shop",pod="web-0"} 7
container_memory_rss{container="app",namespace="shop",pod="web-0"} 7
container_memory_working_set_bytes{container="app" 7
container_memory_working_set_bytes{container="app",namespace="shop",pod="x"} many
machine_cpu_cores 2
container_memory_working_set_bytes{container="migrate",namespace="shop",pod="web-0"} 7
container_cpu_cfs_periods_total{container="app",namespace="shop",pod="web-0"} 40
container_cpu_cfs_throttled_periods_total{container="app",namespace="shop",pod="web-0"} 4
container_cpu_cfs_throttled_seconds_total{container="app",namespace="shop",pod="web-0"} 1
container_memory_max_usage_bytes{container="app",namespace="shop",pod="web-0"} 2e+06
container_oom_events_total{container="app",namespace="shop",pod="web-0"} 3)";
  Cluster cluster({.cluster = "east", .jobs = KubernetesJobs::kPods});
  Pod pod = TestPod("web-0");
  pod.left_out = {"migrate"};
  cluster.pods().Replace({pod});
  HeardReports heard;
  EXPECT_EQ(ReportUsage(kText, cluster, "shop", Timestamp::FromSeconds(5), heard), 2U);
  const std::string who = "east/shop/deployment/web web-0[app] ";
  EXPECT_THAT(heard.said,
              ElementsAre(StrCat(who, "cpu_seconds_total 1.5"), StrCat(who, "memory_bytes 1000000"),
                          StrCat(who, "cpu_periods_total 40"), StrCat(who, "cpu_throttled_periods_total 4"),
                          StrCat(who, "memory_peak 2000000"), StrCat(who, "oom_total 3")));
  EXPECT_THAT(heard.times_ms, ElementsAre(1700000000123, 5000, 5000, 5000, 5000, 5000));
}

// A kubelet may report a pod before the API server does, and an old kernel reports usage per processor.
TEST(UsageReports, AreOfPodsThatAreThereAndOfTheirContainersIds) {
  const std::string id(64, 'a');
  const std::string text = StrCat(
      R"(container_cpu_usage_seconds_total{container="app",cpu="total",id="/kubepods/cri-containerd-)", id,
      R"(.scope",namespace="shop",pod="web-0"} 1
container_cpu_usage_seconds_total{container="app",cpu="cpu00",namespace="shop",pod="web-0"} 1
container_memory_working_set_bytes{container="app",namespace="shop",pod="web-5d4f8c7b9d-bcdfg"} 1
container_memory_working_set_bytes{container="app",namespace="shop"} 1
container_memory_working_set_bytes{container="app",pod="web-0"} 1)");
  Cluster cluster({"", KubernetesJobs::kContainers});
  cluster.pods().Replace({TestPod("web-0")});
  HeardReports heard;
  EXPECT_EQ(ReportUsage(text, cluster, "", Timestamp{0}, heard), 0U);
  EXPECT_THAT(heard.said, ElementsAre("shop/deployment/web/app web-0 cpu_seconds_total 1"));
  EXPECT_THAT(heard.ids, ElementsAre(id));
}

// A page of a kubelet 1.35.
TEST(UsageReports, TakesWhatTheResourceMetricsHave) {
  constexpr std::string_view kText =
      R"(container_cpu_usage_seconds_total{container="app",namespace="shop",pod="web-0"} 1.5 1700000000123
container_memory_working_set_bytes{container="app",namespace="shop",pod="web-0"} 1e+06 1700000000123
container_start_time_seconds{container="app",namespace="shop",pod="web-0"} 1.7e+09
node_cpu_usage_seconds_total 91 1700000000123
pod_cpu_usage_seconds_total{namespace="shop",pod="web-0"} 1.6 1700000000123
resource_scrape_error 0
)";
  Cluster cluster({});
  cluster.pods().Replace({TestPod("web-0")});
  HeardReports heard;
  EXPECT_EQ(ReportUsage(kText, cluster, "", Timestamp::FromSeconds(5), heard), 0U);
  EXPECT_THAT(heard.said, ElementsAre("shop/deployment/web web-0[app] cpu_seconds_total 1.5",
                                      "shop/deployment/web web-0[app] memory_bytes 1000000"));
  EXPECT_THAT(heard.times_ms, testing::Each(1700000000123));
}

}  // namespace
}  // namespace taut::server
