#include "server/kubernetes/watch/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/kubernetes/watch/pod_fixture.h"
#include "server/kubernetes/watch/pod_series.h"

namespace taut::server {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
    cluster->ReplacePods({one, two});
    two.containers[1].id = "b2";
    cluster->PutPod(two);
  }
  EXPECT_EQ(pods.TaskOfContainer("a1"), Task("shop/deployment/web", kPodA));
  EXPECT_EQ(pods.TaskOfContainer("b1"), std::nullopt) << "a task is the whole pod";
  EXPECT_EQ(containers.TaskOfContainer("a1"), Task("east/shop/deployment/web/app", kPodA));
  EXPECT_EQ(containers.TaskOfContainer("b2"), Task("east/shop/deployment/web/side", kPodB));
  EXPECT_EQ(containers.TaskOfContainer(""), std::nullopt);
  Pod again = TestPod(kPodA);
  again.containers[0].id = "a2";
  containers.PutPod(again);
  EXPECT_EQ(containers.TaskOfContainer("a1"), std::nullopt) << "it was started again";
  EXPECT_EQ(containers.TaskOfContainer("a2"), Task("east/shop/deployment/web/app", kPodA));
  containers.RemovePod(again);
  EXPECT_EQ(containers.TaskOfContainer("a2"), std::nullopt);
}

TEST(Cluster, FollowsOwners) {
  Cluster cluster({});
  // Before the ReplicaSet is known its name tells the Deployment.
  Pod pod = TestPod("web-5d4f8c7b9d-aaaaa");
  cluster.ReplacePods({pod});
  EXPECT_THAT(NamesOf(cluster.PodsOf(kWeb)), ElementsAre("web-5d4f8c7b9d-aaaaa"));
  (void)cluster.TakeChanged();
  cluster.PutOwned("ReplicaSet", {"shop", "web-5d4f8c7b9d", "Rollout", "front"});
  EXPECT_THAT(cluster.PodsOf(kWeb), IsEmpty());
  EXPECT_THAT(NamesOf(cluster.PodsOf({"shop", "rollout", "front", ""})), ElementsAre("web-5d4f8c7b9d-aaaaa"));
  EXPECT_THAT(cluster.TakeChanged(), ElementsAre("shop/deployment/web", "shop/rollout/front"));
  EXPECT_THAT(cluster.TakeChanged(), IsEmpty());
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
  cluster.ReplaceOwned("Job", {one, two});
  cluster.ReplacePods({RunOf("import-x2x4z"), RunOf("import-20261125"), RunOf("by-hand")});
  EXPECT_THAT(NamesOf(cluster.PodsOf(import)), ElementsAre("import-x2x4z-aaaaa"))
      << "what is not known of a Job with a minute in its name is a CronJob's";
  cluster.PutOwned("Job", {"shop", "import-20261125", "", ""});
  EXPECT_THAT(NamesOf(cluster.PodsOf(import)), ElementsAre("import-20261125-aaaaa", "import-x2x4z-aaaaa"));
  // A label is set, changed and taken away.
  two.program = "import";
  cluster.PutOwned("Job", two);
  EXPECT_EQ(cluster.PodsOf(import).size(), 3U);
  two.program = "nightly";
  cluster.PutOwned("Job", two);
  EXPECT_THAT(NamesOf(cluster.PodsOf(nightly)), ElementsAre("by-hand-aaaaa"));
  two.program = "";
  cluster.PutOwned("Job", two);
  EXPECT_THAT(NamesOf(cluster.PodsOf({"shop", "job", "by-hand", ""})), ElementsAre("by-hand-aaaaa"));
  // The series say the same, so that usage has the name by which limits are set.
  one.program = "nightly";
  cluster.PutOwned("Job", one);
  std::vector<std::string> said;
  ForEachPodSeries(cluster, Timestamp{0}, false, [&](std::span<const LabelView> labels, double, int64_t) {
    if (LabelValue(labels, "__name__") == "kube_job_labels")
      said.push_back(
          StrCat(LabelValue(labels, "job_name"), " ", LabelValue(labels, "label_tautline_dev_job")));
  });
  EXPECT_THAT(said, ElementsAre("import-x2x4z nightly"));
  Pod waiting = RunOf("import-9kdlw");
  EXPECT_EQ(WorkloadKey(cluster.WorkloadOf(waiting)), "shop/job/import")
      << "for the webhook, before the Job is seen";
  waiting.program = "load";
  EXPECT_EQ(WorkloadKey(cluster.WorkloadOf(waiting)), "shop/job/load");
  cluster.PutPod(waiting);
  EXPECT_EQ(cluster.PodsOf({"shop", "job", "load", ""}).size(), 1U);
  waiting.program = "";
  cluster.PutPod(waiting);
  EXPECT_TRUE(cluster.PodsOf({"shop", "job", "load", ""}).empty());
  Pod lone = TestPod("ci-x2x4z");
  lone.owner_kind = lone.owner_name = "";
  lone.program = "ci";
  EXPECT_EQ(WorkloadKey(cluster.WorkloadOf(lone)), "shop/pod/ci");
  cluster.PutPod(lone);
  EXPECT_EQ(cluster.PodsOf({"shop", "pod", "ci", ""}).size(), 1U);
}

TEST(Cluster, NamesRunsOfDifferentImages) {
  Cluster cluster({});
  const WorkloadName import{"shop", "job", "import", ""}, of_container{"shop", "job", "import", "app"};
  cluster.ReplaceOwned("Job", {{"shop", "import-x2x4z", "", ""}, {"shop", "import-9kdlw", "", ""}});
  cluster.ReplacePods({RunOf("import-x2x4z"), RunOf("import-9kdlw", "registry:5000/import:2@sha256:0f")});
  EXPECT_EQ(cluster.MixedImages(import), "") << "another version is the same program";
  Pod other = RunOf("import-9kdlw", "registry:5000/export");
  other.is_ended = true;
  cluster.PutPod(other);
  EXPECT_THAT(
      cluster.MixedImages(import),
      HasSubstr("the container app has the image registry:5000/export in the pod import-9kdlw-aaaaa and "
                "registry:5000/import in import-x2x4z-aaaaa. A label or annotation tautline.dev/job"));
  EXPECT_NE(cluster.MixedImages(of_container), "");
  EXPECT_EQ(cluster.MixedImages({"shop", "job", "import", "log"}), "");
  EXPECT_EQ(cluster.MixedImages({"shop", "job", "gone", ""}), "");
  // A rollout to another image is one program all the same.
  Pod old = TestPod(kPodA), newer = TestPod(kPodB);
  old.containers[0].image = "a";
  newer.containers[0].image = "b";
  cluster.ReplacePods({old, newer});
  EXPECT_EQ(cluster.MixedImages(kWeb), "");
}

TEST(Cluster, ImagesAreVersions) {
  Cluster cluster({});
  Pod old = TestPod(kPodA), newer = TestPod(kPodB), gone = TestPod("web-5d4f8c7b9d-ccccc");
  for (Pod* pod : {&old, &newer, &gone}) pod->containers.push_back(TestContainer("log"));
  old.containers[0].image = "registry:5000/shop/web:1.2";
  newer.containers[0].image = "web:1.3@sha256:0123456789abcdef";
  gone.containers[0].image = "web:1.1";
  gone.is_ended = true;
  newer.containers[1].image = "log";
  cluster.ReplacePods({old, newer, gone});
  EXPECT_THAT(cluster.VersionsOf(kWeb), ElementsAre("web:1.2", "web:1.3@0123456789ab+log"));
  EXPECT_THAT(cluster.VersionsOf({"shop", "deployment", "web", "app"}),
              ElementsAre("web:1.2", "web:1.3@0123456789ab"));
  EXPECT_THAT(cluster.VersionsOf({"shop", "deployment", "web", "log"}), ElementsAre("log"));
  EXPECT_THAT(cluster.VersionsOf({"shop", "deployment", "gone", ""}), IsEmpty());
}

TEST(Cluster, AListReplacesWhatIsGone) {
  Cluster cluster({});
  EXPECT_FALSE(cluster.synced());
  cluster.ReplacePods({TestPod("web-5d4f8c7b9d-aaaaa"), TestPod("web-5d4f8c7b9d-bbbbb")});
  EXPECT_TRUE(cluster.synced());
  cluster.ReplacePods({TestPod("web-5d4f8c7b9d-bbbbb")});
  EXPECT_THAT(NamesOf(cluster.PodsOf(kWeb)), ElementsAre("web-5d4f8c7b9d-bbbbb"));
  EXPECT_THAT(NamesOf(cluster.TakeChangedPods()), ElementsAre("web-5d4f8c7b9d-bbbbb"));
  cluster.RemovePod(TestPod("web-5d4f8c7b9d-bbbbb"));
  EXPECT_THAT(cluster.PodsOf(kWeb), IsEmpty());
  EXPECT_EQ(cluster.num_pods(), 0U);
}

TEST(Cluster, GivesPodsThatRunOnly) {
  Cluster cluster({});
  Pod ended = TestPod("web-5d4f8c7b9d-aaaaa"), deleted = TestPod("web-5d4f8c7b9d-bbbbb");
  ended.is_ended = true;
  deleted.is_deleted = true;
  cluster.ReplacePods({ended, deleted, TestPod("web-5d4f8c7b9d-ccccc")});
  EXPECT_THAT(NamesOf(cluster.PodsOf(kWeb)), ElementsAre("web-5d4f8c7b9d-ccccc"));
  EXPECT_THAT(cluster.PodsOf({"shop", "deployment", "web", "other"}), IsEmpty());
}

TEST(Cluster, KnowsNodes) {
  Cluster cluster({});
  cluster.ReplaceNodes({{"a", {4, 8 * kMebibyte}, true}, {"b", {}, false}});
  EXPECT_THAT(cluster.ReadyNodes(), ElementsAre("a"));
  EXPECT_EQ(cluster.Allocatable("a")->cpu, 4);
  EXPECT_FALSE(cluster.Allocatable("c").has_value());
  cluster.RemoveNode({"a", {}, true});
  EXPECT_THAT(cluster.ReadyNodes(), IsEmpty());
}

// "name{labels} value", without the metric's __name__ label.
std::vector<std::string> SeriesOf(const Cluster& cluster, bool starts = false) {
  std::vector<std::string> out;
  ForEachPodSeries(cluster, Timestamp::FromSeconds(5), starts,
                   [&](std::span<const LabelView> labels, double value, int64_t timestamp_ms) {
                     EXPECT_EQ(timestamp_ms, 5000);
                     EXPECT_TRUE(std::ranges::is_sorted(labels, {}, &LabelView::name));
                     std::string text(LabelValue(labels, "__name__"));
                     for (const LabelView& label : labels) {
                       if (label.name != "__name__") StrAppend(&text, " ", label.name, "=", label.value);
                     }
                     out.push_back(StrCat(text, " ", value));
                   });
  return out;
}

TEST(PodSeries, SayWhenContainersStartedIfThatIsAskedFor) {
  Cluster cluster({.cluster = "", .jobs = KubernetesJobs::kPods});
  Pod pod = TestPod("web-5d4f8c7b9d-aaaaa");
  pod.containers[0].started_s = 1'700'000'000;
  Pod waits = TestPod("web-5d4f8c7b9d-bbbbb");
  waits.containers[0].running = false;
  cluster.ReplacePods({pod, waits});
  EXPECT_THAT(SeriesOf(cluster), testing::Each(testing::Not(testing::HasSubstr("started"))));
  EXPECT_THAT(SeriesOf(cluster, true),
              testing::Contains("kube_pod_container_state_started container=app namespace=shop "
                                "pod=web-5d4f8c7b9d-aaaaa 1700000000"));
  EXPECT_THAT(SeriesOf(cluster, true), testing::Contains(testing::HasSubstr("started")).Times(1));
}

TEST(PodSeries, AreThoseOfKubeStateMetrics) {
  Cluster cluster({.cluster = "east", .jobs = KubernetesJobs::kPods});
  Pod pod = TestPod("web-5d4f8c7b9d-aaaaa");
  pod.labels = {{"app.kubernetes.io/name", "web"}};
  pod.containers[0].restarts = 2;
  pod.containers[0].last_reason = "OOMKilled";
  pod.containers[0].ended_s = 1'700'000'000;
  cluster.PutOwned("ReplicaSet", {"shop", "web-5d4f8c7b9d", "Deployment", "web"});
  cluster.ReplacePods({pod});
  const std::string who = "namespace=shop pod=web-5d4f8c7b9d-aaaaa";
  EXPECT_THAT(
      SeriesOf(cluster),
      ElementsAre(
          "kube_replicaset_owner cluster=east namespace=shop owner_is_controller=true owner_kind=Deployment "
          "owner_name=web replicaset=web-5d4f8c7b9d 1",
          "kube_pod_owner cluster=east namespace=shop owner_is_controller=true owner_kind=ReplicaSet "
          "owner_name=web-5d4f8c7b9d pod=web-5d4f8c7b9d-aaaaa 1",
          StrCat("kube_pod_labels cluster=east label_app_kubernetes_io_name=web ", who, " 1"),
          StrCat("kube_pod_container_resource_limits cluster=east container=app ", who, " resource=cpu 0.2"),
          StrCat("kube_pod_container_resource_limits cluster=east container=app ", who,
                 " resource=memory 67108864"),
          StrCat("kube_pod_container_resource_requests cluster=east container=app ", who,
                 " resource=cpu 0.1"),
          StrCat("kube_pod_container_resource_requests cluster=east container=app ", who,
                 " resource=memory 33554432"),
          StrCat("kube_pod_container_status_waiting cluster=east container=app ", who, " 0"),
          StrCat("kube_pod_container_status_last_terminated_reason cluster=east container=app ", who,
                 " reason=OOMKilled 1"),
          StrCat("kube_pod_container_status_last_terminated_timestamp cluster=east container=app ", who,
                 " 1700000000"),
          StrCat("kube_pod_container_status_restarts_total cluster=east container=app ", who, " 2")));
}

TEST(PodSeries, InitContainersAreNamedUntilThePodIsGone) {
  Cluster cluster({});
  Pod pod = TestPod("web-5d4f8c7b9d-aaaaa");
  pod.left_out = {"migrate"};
  cluster.ReplacePods({pod});
  EXPECT_THAT(
      SeriesOf(cluster),
      Contains("kube_pod_init_container_info container=migrate namespace=shop pod=web-5d4f8c7b9d-aaaaa 1"));
  const auto left_out = [&cluster](std::string_view container) {
    return cluster.IsLeftOut("shop", "web-5d4f8c7b9d-aaaaa", container);
  };
  EXPECT_TRUE(left_out("migrate"));
  EXPECT_FALSE(left_out("app"));
  pod.left_out.push_back("debugger-x2x4z");  // kubectl debug
  cluster.PutPod(pod);
  EXPECT_TRUE(left_out("migrate"));
  EXPECT_TRUE(left_out("debugger-x2x4z"));
  cluster.RemovePod(pod);
  EXPECT_FALSE(left_out("migrate"));
}

// Else what Tautline set would be taken for what the owner wants.
TEST(PodSeries, ALimitThatWeSetIsNotTheOwners) {
  Cluster cluster({});
  Pod resized = TestPod();
  resized.resized = resized.resized_by_us = true;
  resized.containers[0].limits = {0.3, 96 * kMebibyte};
  cluster.ReplacePods({resized});
  EXPECT_THAT(SeriesOf(cluster), testing::Not(Contains(HasSubstr("resource_limits"))))
      << "it was never seen with those of its owner";
}

TEST(PodSeries, WhatAWholePodMayUseIsTheLimitOfItsContainers) {
  Cluster cluster({});
  Pod pod = TestPod();
  pod.containers.push_back(TestContainer("log"));
  pod.containers[0].limits.memory.reset();
  pod.pod_limits.memory = 96 * kMebibyte;
  cluster.ReplacePods({pod});
  EXPECT_THAT(SeriesOf(cluster), Contains(HasSubstr(StrCat("resource=memory ", 96 * kMebibyte))));
}

// Its owner's change is seen although the pod is resized at once.
TEST(PodSeries, AResizedPodKeepsTheLimitsOfItsOwner) {
  Cluster cluster({});
  cluster.ReplacePods({TestPod()});
  Pod resized = TestPod();
  resized.resized = resized.resized_by_us = true;
  resized.containers[0].limits = {0.3, 96 * kMebibyte};
  cluster.PutPod(resized);
  cluster.PutPod(resized);
  EXPECT_THAT(SeriesOf(cluster), Contains(HasSubstr("resource=cpu 0.2")));
  EXPECT_THAT(SeriesOf(cluster), Contains(HasSubstr("resource=memory 67108864")));
  resized.uid = "another pod of this name";
  cluster.PutPod(resized);
  EXPECT_THAT(SeriesOf(cluster), testing::Not(Contains(HasSubstr("resource_limits"))));
}

TEST(UsageSeries, TakesContainersOnly) {
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
  cluster.ReplacePods({pod});
  std::vector<std::string> got;
  const size_t damaged = ForEachUsageSeries(
      kText, cluster, "shop", Timestamp::FromSeconds(5),
      [&](std::span<const LabelView> labels, double value, int64_t timestamp_ms) {
        EXPECT_TRUE(std::ranges::is_sorted(labels, {}, &LabelView::name));
        EXPECT_EQ(LabelValue(labels, "cluster"), "east");
        got.push_back(StrCat(LabelValue(labels, "__name__"), " ", value, " ", timestamp_ms));
      });
  EXPECT_EQ(damaged, 2U);
  EXPECT_THAT(
      got, ElementsAre("container_cpu_usage_seconds_total 1.5 1700000000123",
                       "container_memory_working_set_bytes 1000000 5000",
                       "container_cpu_cfs_periods_total 40 5000",
                       "container_cpu_cfs_throttled_periods_total 4 5000",
                       "container_memory_max_usage_bytes 2000000 5000", "container_oom_events_total 3 5000"));
}

// As a kubelet of 1.35 writes it.
TEST(UsageSeries, TakesWhatTheResourceMetricsHave) {
  constexpr std::string_view kText =
      R"(container_cpu_usage_seconds_total{container="app",namespace="shop",pod="web-0"} 1.5 1700000000123
container_memory_working_set_bytes{container="app",namespace="shop",pod="web-0"} 1e+06 1700000000123
container_start_time_seconds{container="app",namespace="shop",pod="web-0"} 1.7e+09
node_cpu_usage_seconds_total 91 1700000000123
pod_cpu_usage_seconds_total{namespace="shop",pod="web-0"} 1.6 1700000000123
resource_scrape_error 0
)";
  std::vector<std::string> got;
  EXPECT_EQ(0U, ForEachUsageSeries(kText, Cluster({}), "", Timestamp::FromSeconds(5),
                                   [&](std::span<const LabelView> labels, double value, int64_t time_ms) {
                                     got.push_back(
                                         StrCat(LabelValue(labels, "__name__"), " ", value, " ", time_ms));
                                   }));
  EXPECT_THAT(got, ElementsAre("container_cpu_usage_seconds_total 1.5 1700000000123",
                               "container_memory_working_set_bytes 1000000 1700000000123"));
}

}  // namespace
}  // namespace taut::server
