#include "server/ingest/workload_sample.h"

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/ingest/ingest.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr int64_t kSampleBegin = 1'700'006'400;  // a midnight, seconds

WorkloadPart AppOf(std::string pod) {
  WorkloadPart out{.job = {.source = Source::kKubernetes,
                           .namespace_name = "shop",
                           .kind = "deployment",
                           .name = "web",
                           .container = "app"},
                   .task = std::move(pod)};
  out.pod = StrCat("shop/Pod/", out.task);
  return out;
}

class WorkloadSamples : public testing::Test {
 protected:
  static Timestamp At(int64_t second) { return Timestamp::FromSeconds(kSampleBegin + second); }
  SeriesMapper& mapper() { return ingest_.mapper(); }
  void Take(const WorkloadPart& part, SeriesKind kind, double value, int64_t second) {
    ingest_.Take(part, kind, {value, (kSampleBegin + second) * 1000}, At(second));
  }
  std::vector<ClosedWindow> Close(int64_t second) {
    std::vector<ClosedWindow> out;
    ingest_.CloseUntil(At(second), [&out](ClosedWindow&& window) { out.push_back(std::move(window)); });
    return out;
  }

  Ingest ingest_{*MappingRules::Compile(BuiltinRules(KubernetesJobs::kContainers)), Ingest::Options()};
};

TEST_F(WorkloadSamples, MakeWindowsOfTheJobThatTheyName) {
  WorkloadPart app = AppOf("web-1");
  app.labels = {{"team", "blue"}, {"other", "x"}};
  for (int64_t second = 0; second <= 600; second += 60) {
    Take(app, SeriesKind::kCpuSecondsTotal, 0.5 * static_cast<double>(second), second);
    Take(app, SeriesKind::kMemoryBytes, 5e7, second);
    Take(app, SeriesKind::kMemoryLimitBytes, 1e8, second);
  }
  ASSERT_EQ(mapper().jobs().size(), 1U);
  const SeriesJobs::Facts job = mapper().jobs().FactsOf(JobId{0});
  EXPECT_EQ(job.name, "shop/deployment/web/app");
  EXPECT_EQ(job.parts.In(job.name), app.job);
  EXPECT_THAT(job.labels, ElementsAre(Pair("namespace", "shop"), Pair("team", "blue")));
  EXPECT_TRUE(mapper().Collision(JobId{0}).empty());
  const std::vector<ClosedWindow> closed = Close(1200);
  ASSERT_GE(closed.size(), 2U);
  ASSERT_EQ(closed[1].jobs.size(), 1U);
  EXPECT_EQ(closed[1].jobs[0].window.num_tasks, 1U);
  EXPECT_NEAR(closed[1].tasks[0].cpu_mean_cores, 0.5, 1e-6);
  EXPECT_EQ(closed[1].jobs[0].window.limit(Resource::kMemory), 1e8);
}

// A Prometheus may scrape the same container: the usage is measured twice and used once.
TEST_F(WorkloadSamples, SeriesOfTheSameContainerAreOfTheSameTask) {
  Take(AppOf("web-5d4f8c7b9d-bcdfg"), SeriesKind::kMemoryBytes, 5e7, 0);
  const std::vector<LabelView> labels = {{"__name__", "container_memory_working_set_bytes"},
                                         {"container", "app"},
                                         {"namespace", "shop"},
                                         {"pod", "web-5d4f8c7b9d-bcdfg"}};
  const RemoteSample sample{6e7, kSampleBegin * 1000};
  ingest_.Take({labels, {&sample, 1}, Fingerprint(labels)}, At(0));
  EXPECT_EQ(mapper().jobs().size(), 1U);
  EXPECT_EQ(mapper().jobs().at(JobId{0}).slots, 2U);
  EXPECT_TRUE(mapper().Collision(JobId{0}).empty()) << "one source, told by two";
  const std::vector<ClosedWindow> closed = Close(900);
  ASSERT_GE(closed.size(), 1U);
  EXPECT_EQ(closed[0].tasks.size(), 1U);
  EXPECT_EQ(closed[0].tasks[0].memory_peak_bytes, 6e7F);
}

TEST_F(WorkloadSamples, FactsNameThePodsOfSeriesFromElsewhere) {
  ingest_.Take(WorkloadFact{.kind = SeriesKind::kOwner, .about = "shop/Pod/odd", .says = "Rollout/front"},
               At(0));
  ingest_.Take(WorkloadFact{.kind = SeriesKind::kPodLabels,
                            .about = "shop/Pod/odd",
                            .labels = {{"team", "blue"}, {"namespace", "other"}}},
               At(0));
  const std::vector<LabelView> labels = {{"__name__", "container_memory_working_set_bytes"},
                                         {"container", "app"},
                                         {"namespace", "shop"},
                                         {"pod", "odd"}};
  const RemoteSample sample{6e7, kSampleBegin * 1000};
  ingest_.Take({labels, {&sample, 1}, Fingerprint(labels)}, At(0));
  EXPECT_THAT(mapper().jobs().Names(), ElementsAre("shop/rollout/front/app"));
  EXPECT_THAT(mapper().jobs().FactsOf(JobId{0}).labels,
              ElementsAre(Pair("namespace", "shop"), Pair("team", "blue")));
}

TEST_F(WorkloadSamples, AKillIsCountedOnce) {
  const WorkloadPart app = AppOf("web-1");
  Take(app, SeriesKind::kRestartsTotal, 0, 0);
  Take(app, SeriesKind::kOomReason, 1, 60);
  Take(app, SeriesKind::kLastEnded, kSampleBegin + 55, 60);
  Take(app, SeriesKind::kRestartsTotal, 1, 60);
  const std::vector<OomSighting> kills = ingest_.TakeOoms();
  ASSERT_EQ(kills.size(), 1U);
  EXPECT_EQ(kills[0].time.seconds(), kSampleBegin + 55);
  Take(app, SeriesKind::kRestartsTotal, 1, 120);
  EXPECT_THAT(ingest_.TakeOoms(), IsEmpty());
}

// An agent's own measurements are used, and the kubelet's values for the same container are ignored.
TEST_F(WorkloadSamples, AnAgentsContainerIsTheAgents) {
  WorkloadPart app = AppOf("web-1");
  app.container_id = std::string(64, 'a');
  Take(app, SeriesKind::kMemoryBytes, 5e7, 0);
  const LabelView none[] = {{"x", "y"}};
  ASSERT_TRUE(
      ingest_.TaskSlot("shop/deployment/web/app", "web-1", none, At(1), app.container_id).has_value());
  Take(app, SeriesKind::kMemoryBytes, 5e7, 60);
  EXPECT_EQ(mapper().jobs().size(), 1U);
  EXPECT_EQ(mapper().jobs().tasks.Find(JobId{0}, "web-1"), 0U);
  EXPECT_TRUE(mapper().Collision(JobId{0}).empty());
}

TEST_F(WorkloadSamples, ANumberOfTasksIsOfTheJob) {
  WorkloadPart job = AppOf("");
  job.pod.clear();
  Take(AppOf("web-1"), SeriesKind::kMemoryBytes, 5e7, 0);
  Take(job, SeriesKind::kReplicas, 3, 0);
  EXPECT_EQ(mapper().jobs().at(JobId{0}).slots, 1U);
  const std::vector<ClosedWindow> closed = Close(900);
  ASSERT_GE(closed.size(), 1U);
  ASSERT_EQ(closed[0].jobs.size(), 1U);
  Take(AppOf("web-1"), SeriesKind::kReplicas, 3, 400);
  Take(job, SeriesKind::kMemoryBytes, 3, 400);
  Take(AppOf("web-1"), SeriesKind::kOwner, 3, 400);
  EXPECT_EQ(ingest_.counts().refused, 3U) << "a number of a task, usage of none, and a fact";
}

TEST_F(WorkloadSamples, AJobWithoutRoomOrNameIsRefusedAndCounted) {
  WorkloadPart nameless = AppOf("web-1");
  nameless.job = {.source = Source::kKubernetes};
  Take(nameless, SeriesKind::kMemoryBytes, 5e7, 0);
  WorkloadPart odd = AppOf("web-1");
  odd.job.name = "\x01";
  Take(odd, SeriesKind::kMemoryBytes, 5e7, 0);
  EXPECT_EQ(mapper().jobs().size(), 0U);
  EXPECT_EQ(ingest_.counts().refused, 2U);
}

// The sample log contains values of a WorkloadIntake. A sender's series with the names of such values are not
// decoded.
TEST_F(WorkloadSamples, AreReadAgainFromALog) {
  const WorkloadPart app = AppOf("web-1");
  const std::string packed = EncodePart(app, SeriesKind::kMemoryBytes);
  const std::string fact =
      EncodeFact({.kind = SeriesKind::kOwner, .about = "shop/Pod/web-1", .says = "Job/x"});
  const RemoteSeries logged[] = {
      {{{kMetricNameLabel, kPartMetric}, {kPackedLabel, packed}}, {{5e7, kSampleBegin * 1000}}},
      {{{kMetricNameLabel, kFactMetric}, {kPackedLabel, fact}}, {{1, kSampleBegin * 1000}}}};
  ASSERT_TRUE(ingest_.Write(EncodeWriteRequest(logged), At(0)).ok());
  EXPECT_EQ(ingest_.counts().own_names, 2U);
  EXPECT_EQ(ingest_.counts().refused, 2U);
  EXPECT_EQ(mapper().jobs().size(), 0U);
  ASSERT_TRUE(ingest_.WriteLogged(EncodeWriteRequest(logged), At(0)).ok());
  EXPECT_THAT(mapper().jobs().Names(), ElementsAre("shop/deployment/web/app"));
  EXPECT_EQ(ingest_.counts().facts, 1U);
}

TEST(WorkloadPart, DamagedBytesAreNone) {
  WorkloadPart app = AppOf("web-1");
  app.labels = {{"team", "blue"}};
  const std::string good = EncodePart(app, SeriesKind::kLastEnded);
  const auto read = DecodePart(good);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->first.job, app.job);
  EXPECT_EQ(read->first.labels, app.labels);
  EXPECT_EQ(read->second, SeriesKind::kLastEnded);
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(DecodePart(good.substr(0, n)).has_value()) << n;
  const std::string fact = EncodeFact({.kind = SeriesKind::kPodLabels, .about = "a/Pod/b", .version = 3});
  EXPECT_EQ(DecodeFact(fact)->version, 3U);
  for (size_t n = 0; n < fact.size(); ++n) EXPECT_FALSE(DecodeFact(fact.substr(0, n)).has_value()) << n;
}

// In the first version, the group of a workload was the end of its name or of its pods' owner.
TEST(WorkloadSample, TheFirstVersionHasGroupsInNames) {
  WorkloadPart app = AppOf("fluentd-x");
  app.job.kind = "daemonset";
  app.job.name = "fluentd";
  app.job.group = "large";
  EXPECT_EQ(DecodePart(EncodePart(app, SeriesKind::kMemoryBytes))->first.job, app.job);
  const std::string old(
      "\x01\x0cmemory_bytes\x0akubernetes\x00\x04shop\x09"
      "daemonset\x0d"
      "fluentd@large\x03"
      "app\x09"
      "fluentd-x\x00\x00\x00\x00",
      73);
  const auto read = DecodePart(old);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->first.job, app.job);
  EXPECT_EQ(read->first.task, "fluentd-x");
  WorkloadFact fact{
      .about = "shop/Pod/fluentd-x", .says = "DaemonSet/fluentd", .group = "large", .version = 2};
  const auto same = [&fact](const std::optional<WorkloadFact>& is) {
    return is.has_value() && is->about == fact.about && is->says == fact.says && is->group == fact.group &&
           is->version == fact.version;
  };
  EXPECT_TRUE(same(DecodeFact(EncodeFact(fact))));
  const std::string old_fact(
      "\x01\x05owner\x12shop/Pod/fluentd-x\x17"
      "DaemonSet/fluentd@large\x00\x02",
      52);
  EXPECT_TRUE(same(DecodeFact(old_fact)));
  fact.group.reset();
  EXPECT_TRUE(same(DecodeFact(EncodeFact(fact))));
}

}  // namespace
}  // namespace taut::server
