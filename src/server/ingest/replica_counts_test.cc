// Tests of numbers of tasks that series report: the jobs that they belong to, the sample that is used, and the
// cases in which the numbers are unknown.
#include "server/ingest/replica_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>

#include "common/model/said_replicas.h"
#include "server/ingest/ingest.h"

namespace taut::server {
namespace {

constexpr int64_t kCountsBegin = 1'700'000'100;  // start of a window, seconds
constexpr WindowId kFirst{static_cast<int32_t>(kCountsBegin / kWindowSeconds)};

using CountLabels = std::vector<LabelView>;
CountLabels CpuOf(std::string_view pod, std::string_view container = "app") {
  return {{"__name__", "container_cpu_usage_seconds_total"},
          {"container", container},
          {"namespace", "shop"},
          {"pod", pod}};
}
CountLabels Count(std::string_view metric, std::string_view kind, std::string_view name,
                  std::string_view instance = "") {
  return {{"__name__", metric}, {kind, name}, {"instance", instance}, {"namespace", "shop"}};
}
const char* const kCount = "kube_deployment_status_replicas";
const char* const kReady = "kube_deployment_status_replicas_ready";

double StaleMarker() { return std::bit_cast<double>(uint64_t{0x7ff0000000000002}); }

class CountedCell {
 public:
  explicit CountedCell(KubernetesJobs jobs = KubernetesJobs::kPods)
      : ingest_(*MappingRules::Compile(BuiltinRules(jobs)), {}) {}
  void Send(const CountLabels& labels, int second, double value) {
    const RemoteSample sample{value, (kCountsBegin + second) * 1000};
    ingest_.Take({labels, {&sample, 1}, Fingerprint(labels)}, Timestamp::FromSeconds(kCountsBegin + second));
  }
  // Sends a counter of half a core in the seconds [from, to).
  void Run(const CountLabels& labels, int from, int to) {
    for (int s = from; s < to; s += 30) Send(labels, s, 0.5 * (1000 + s));
  }
  // Returns the reported numbers of each job in the only closed window.
  std::map<std::string, SaidReplicas> Close(int second) {
    std::map<std::string, SaidReplicas> out;
    ingest_.CloseUntil(Timestamp::FromSeconds(kCountsBegin + second), [&](const ClosedWindow& w) {
      for (const JobWindowData& job : w.jobs) {
        const std::string name(ingest_.mapper().jobs().name(job.job));
        EXPECT_FALSE(out.contains(name)) << "two windows";
        out[name] = job.replicas;
        // The stored numbers; a number that equals the measured number is not stored.
        const SaidReplicas kept =
            SaidOf(std::span(w.signals).subspan(job.window.first_signal, job.window.num_signals));
        const auto measured = static_cast<int>(job.window.num_tasks);
        const bool as_measured = job.replicas.count == measured && job.replicas.ready == measured;
        EXPECT_EQ(kept.count, as_measured ? -1 : job.replicas.count) << name;
        EXPECT_EQ(kept.ready, as_measured ? -1 : job.replicas.ready) << name;
      }
    });
    return out;
  }
  Ingest& ingest() { return ingest_; }

 private:
  Ingest ingest_;
};

bool operator==(const SaidReplicas& a, const SaidReplicas& b) {
  return a.count == b.count && a.ready == b.ready;
}

TEST(ReplicaCounts, KubeStateMetricsSaysHowManyPodsAWorkloadHas) {
  CountedCell cell;
  cell.Run(CpuOf("web-5d4f8c7b9d-x2x4z"), 0, 330);
  cell.Run(CpuOf("db-0"), 0, 330);
  cell.Run(CpuOf("lone-5d4f8c7b9d-x2x4z"), 0, 330);
  for (int s = 0; s < 330; s += 30) {
    cell.Send(Count(kCount, "deployment", "web"), s, s < 150 ? 4 : 8);
    cell.Send(Count(kReady, "deployment", "web"), s, s < 150 ? 4 : 5);
    cell.Send(Count("kube_statefulset_status_replicas", "statefulset", "db"), s, 3);
    cell.Send(Count("kube_statefulset_status_replicas_ready", "statefulset", "db"), s, 0);
    cell.Send(Count(kCount, "deployment", "unmeasured"), s, 2);
    cell.Send(Count(kReady, "deployment", "lone"), s, 2);
  }
  const auto said = cell.Close(420);
  EXPECT_EQ(said.size(), 3U) << "a number without usage makes no job";
  EXPECT_EQ(cell.ingest().mapper().jobs().size(), 3U);
  EXPECT_TRUE(said.at("shop/deployment/web") == (SaidReplicas{8, 5})) << "the last of the window";
  EXPECT_TRUE(said.at("shop/statefulset/db") == (SaidReplicas{3, 0}));
  EXPECT_FALSE(said.at("shop/deployment/lone").known()) << "ready of an unknown number";
  EXPECT_EQ(cell.ingest().counts().facts, 66U);
}

TEST(ReplicaCounts, AreThoseOfEachContainerOfTheWorkload) {
  CountedCell cell(KubernetesJobs::kContainers);
  for (const char* container : {"app", "proxy"}) cell.Run(CpuOf("web-5d4f8c7b9d-x2x4z", container), 0, 330);
  cell.Run(CpuOf("db-0"), 0, 330);
  for (int s = 0; s < 330; s += 30) cell.Send(Count(kCount, "deployment", "web"), s, 8);
  const auto said = cell.Close(420);
  ASSERT_EQ(said.size(), 3U);
  EXPECT_EQ(said.at("shop/deployment/web/app").count, 8);
  EXPECT_EQ(said.at("shop/deployment/web/proxy").count, 8);
  EXPECT_FALSE(said.at("shop/statefulset/db/app").known());
}

TEST(ReplicaCounts, ASilentSeriesIsNotZero) {
  CountedCell cell;
  for (const char* pod : {"web-5d4f8c7b9d-x2x4z", "api-5d4f8c7b9d-x2x4z", "zero-5d4f8c7b9d-x2x4z"})
    cell.Run(CpuOf(pod), 0, 630);
  for (int s = 0; s < 630; s += 30) {
    if (s < 300)
      cell.Send(Count(kCount, "deployment", "web"), s, 8);  // no samples later, and no stale marker
    if (s < 300) cell.Send(Count(kCount, "deployment", "api"), s, 8);
    cell.Send(Count(kCount, "deployment", "zero"), s, 0);
  }
  cell.Send(Count(kCount, "deployment", "api"), 290, StaleMarker());
  auto said = cell.Close(420);
  EXPECT_EQ(said.at("shop/deployment/web").count, 8);
  EXPECT_FALSE(said.at("shop/deployment/api").known()) << "ended in the window";
  EXPECT_EQ(said.at("shop/deployment/zero").count, 0);
  said = cell.Close(720);
  EXPECT_FALSE(said.at("shop/deployment/web").known()) << "older than the window";
  EXPECT_EQ(said.at("shop/deployment/zero").count, 0);
}

TEST(ReplicaCounts, OrderDoesNotMatterAndOfTwinsTheLargerCounts) {
  std::vector<int> seconds;
  for (int s = 0; s < 300; s += 30) seconds.push_back(s);
  for (const bool backwards : {false, true}) {
    if (backwards) std::ranges::reverse(seconds);
    CountedCell cell;
    cell.Run(CpuOf("web-5d4f8c7b9d-x2x4z"), 0, 330);
    for (const int s : seconds) {
      cell.Send(Count(kCount, "deployment", "web", "a"), s, s / 30);
      cell.Send(Count(kCount, "deployment", "web", "b"), s, 7);
      cell.Send(Count(kReady, "deployment", "web"), s, 20);
    }
    const auto said = cell.Close(420);
    EXPECT_TRUE(said.at("shop/deployment/web") == (SaidReplicas{9, 9})) << "more than run are not ready";
  }
}

// A watched cluster reports for the job, kube-state-metrics for all jobs of the workload.
TEST(ReplicaCounts, ANumberForTheJobHasPrecedenceOverOneForTheWorkload) {
  ReplicaCounts counts;
  const uint32_t of_workload = counts.Add("shop/deployment/web/*", SeriesKind::kReplicas, 1);
  counts.See(of_workload, {9, 1000});
  EXPECT_EQ(counts.Of("shop/deployment/web/app", WindowId{0}).count, 9);
  const uint32_t of_job = counts.Add("shop/deployment/web/app", SeriesKind::kReplicas, 1);
  counts.See(of_job, {3, 1000});
  EXPECT_EQ(counts.Of("shop/deployment/web/app", WindowId{0}).count, 3);
  EXPECT_EQ(counts.Of("shop/deployment/web/side", WindowId{0}).count, 9);
}

TEST(ReplicaCounts, OfNonsenseNothingIsKnown) {
  ReplicaCounts counts;
  const uint32_t n = counts.Add("web", SeriesKind::kReplicas, 1);
  for (const double value : {-1.0, 1e10, std::numeric_limits<double>::quiet_NaN()}) {
    counts.Keep({0}, {0});
    counts.See(n, {value, kCountsBegin * 1000});
    EXPECT_FALSE(counts.Of("web", kFirst).known()) << value;
  }
  EXPECT_FALSE(counts.Of("", kFirst).known());
  EXPECT_FALSE(counts.Of("web/app", kFirst).known());
}

TEST(ReplicaCounts, AForgottenSeriesGivesItsNumberToAnother) {
  CountedCell cell;
  SeriesMapper& mapper = cell.ingest().mapper();
  cell.Send(Count(kCount, "deployment", "old"), 0, 8);
  ASSERT_EQ(cell.ingest().ForgetIdle(Timestamp::FromSeconds(kCountsBegin + 7200)), 0U);
  EXPECT_TRUE(mapper.replica_counts().empty());
  cell.Send(Count(kCount, "deployment", "new"), 7200, 2);
  EXPECT_EQ(mapper.replica_counts().num_series(), 1U);
  const WindowId then = WindowId::Of(Timestamp::FromSeconds(kCountsBegin + 7200));
  EXPECT_EQ(mapper.replica_counts().Of("shop/deployment/new", then).count, 2);
  EXPECT_FALSE(mapper.replica_counts().Of("shop/deployment/old", kFirst).known());
}

}  // namespace
}  // namespace taut::server
