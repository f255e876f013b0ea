// Tests which slots, jobs and tasks stay, which series are resolved again, and which series are forgotten.
#include "server/ingest/series_mapper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "common/base/strings.h"
#include "server/ingest/load_fixture.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Outcome = SeriesMapper::Outcome;
using MappedLabels = std::vector<LabelView>;

constexpr Timestamp kNow = Timestamp::FromSeconds(1'700'000'000);

Timestamp After(int64_t minutes) { return {kNow.us + minutes * 60 * kMicrosPerSecond}; }

SeriesMapper NewMapper(const SeriesMapper::Options& options = {}) {
  return SeriesMapper(*MappingRules::Compile(BuiltinRules()), options);
}

SeriesMapper::Resolution Resolve(SeriesMapper& mapper, const MappedLabels& labels, Timestamp now = kNow) {
  return mapper.Resolve({labels, {}, Fingerprint(labels)}, now);
}

MappedLabels Cpu(std::string_view pod, std::string_view container = "app") {
  return {{"__name__", "container_cpu_usage_seconds_total"},
          {"container", container},
          {"namespace", "shop"},
          {"pod", pod}};
}
MappedLabels PodOwner(std::string_view pod, std::string_view kind, std::string_view name) {
  return {{"__name__", "kube_pod_owner"}, {"namespace", "shop"}, {"owner_is_controller", "true"},
          {"owner_kind", kind},           {"owner_name", name},  {"pod", pod}};
}

std::string JobOf(const SeriesMapper& mapper, uint32_t slot) {
  return std::string(mapper.jobs().name(mapper.binding(slot).job));
}

// A source with groups of pods, and kube-state-metrics, which has no groups.
TEST(SeriesMapper, APodsGroupIsPartOfItsJobUntilItHasAnother) {
  SeriesMapper mapper = NewMapper();
  const uint32_t slot = Resolve(mapper, Cpu("db-0")).slot;
  const auto now = [&](int64_t minutes) {
    const auto resolution = Resolve(mapper, Cpu("db-0"), After(minutes));
    return JobOf(mapper, resolution.slot);
  };
  const auto regroup = [&](const char* group, uint64_t version, int64_t minutes = 0) {
    const WorkloadFact fact{.kind = SeriesKind::kOwner,
                            .about = "shop/Pod/db-0",
                            .says = "StatefulSet/db",
                            .group = group,
                            .version = version};
    (void)mapper.ResolveFact(fact, After(minutes));
  };
  EXPECT_EQ(now(0), "shop/statefulset/db");
  regroup("0", 1);
  EXPECT_EQ(now(0), "shop/statefulset/db@0");
  EXPECT_EQ(mapper.jobs().FactsOf(mapper.binding(slot).job).parts.In(now(0)).group, "0");
  (void)Resolve(mapper, PodOwner("db-0", "StatefulSet", "db"));
  EXPECT_EQ(now(0), "shop/statefulset/db@0") << "the other source does not know of groups";
  regroup("", 2, 1);
  EXPECT_EQ(now(1), "shop/statefulset/db");
  regroup("0", 3, 2);
  EXPECT_EQ(now(2), "shop/statefulset/db@0") << "as before";
  // The first facts and the series without a group are forgotten; the last fact stays.
  regroup("0", 3, 60);
  EXPECT_EQ(now(60), "shop/statefulset/db@0");
  (void)mapper.ForgetIdle(After(61), 1800);
  EXPECT_EQ(now(61), "shop/statefulset/db@0");
}

// Returns "kind job task" of the series, as a rule maps it.
std::string Seen(SeriesMapper& mapper, const MappedLabels& labels) {
  const auto resolution = Resolve(mapper, labels);
  if (resolution.outcome != Outcome::kMapped) return "-";
  return StrCat(Name(resolution.kind), " ", JobOf(mapper, resolution.slot), " ",
                mapper.jobs().tasks.name(mapper.binding(resolution.slot).task_entry));
}

TEST(SeriesMapper, ReadsTheLabelsThatPrometheusHasRenamed) {
  SeriesMapper mapper = NewMapper();
  const auto limit = [](std::string_view kind) {
    return MappedLabels{{"__name__", "kube_pod_container_resource_limits"},
                        {"container", "ksm"},
                        {"exported_container", "app"},
                        {"exported_namespace", "shop"},
                        {"exported_pod", "web-5d4f8c7b9d-x2x4z"},
                        {"namespace", "monitoring"},
                        {"pod", "ksm-5d9c7b8f6d-x2x4z"},
                        {"resource", kind}};
  };
  EXPECT_EQ(Seen(mapper, limit("memory")), "memory_limit_bytes shop/deployment/web web-5d4f8c7b9d-x2x4z");
  (void)Resolve(mapper, {{"__name__", "kube_pod_owner"},
                         {"exported_namespace", "shop"},
                         {"exported_pod", "web-5d4f8c7b9d-x2x4z"},
                         {"namespace", "monitoring"},
                         {"owner_is_controller", "true"},
                         {"owner_kind", "Rollout"},
                         {"owner_name", "store"},
                         {"pod", "ksm-5d9c7b8f6d-x2x4z"}});
  EXPECT_EQ(Seen(mapper, limit("memory")), "memory_limit_bytes shop/rollout/store web-5d4f8c7b9d-x2x4z")
      << "also where the pod's owner is learnt later";
  EXPECT_EQ(Seen(mapper, limit("cpu")), "cpu_limit_cores shop/rollout/store web-5d4f8c7b9d-x2x4z");
  // A program's own metric keeps the labels of its target.
  EXPECT_EQ(Seen(mapper, {{"__name__", "process_cpu_seconds_total"},
                          {"exported_pod", "other"},
                          {"instance", "h:1"},
                          {"job", "api"}}),
            "cpu_seconds_total api h:1");
}

TEST(SeriesMapper, ReadsOldLabelsOldNamesAndOtherSenders) {
  SeriesMapper mapper = NewMapper();
  const std::string_view pod = "web-5d4f8c7b9d-x2x4z";
  const std::string task = StrCat(" shop/deployment/web ", pod);
  const auto with = [&](std::string_view metric, const char* container_label, const char* pod_label,
                        const char* namespace_label) {
    MappedLabels labels = {
        {"__name__", metric}, {container_label, "app"}, {namespace_label, "shop"}, {pod_label, pod}};
    return Seen(mapper, labels);
  };
  EXPECT_EQ(with("container_memory_working_set_bytes", "container_name", "pod_name", "namespace"),
            "memory_bytes" + task);
  EXPECT_EQ(with("other_metric", "container_name", "pod_name", "namespace"), "-");
  const auto now = [&](std::string_view metric) { return with(metric, "container", "pod", "namespace"); };
  EXPECT_EQ(now("kube_pod_container_resource_limits_cpu_cores"), "cpu_limit_cores" + task);
  EXPECT_EQ(now("kube_pod_container_resource_limits_memory_bytes"), "memory_limit_bytes" + task);
  EXPECT_EQ(now("kube_pod_container_resource_requests_cpu_cores"), "cpu_request_cores" + task);
  EXPECT_EQ(now("kube_pod_container_resource_requests_memory_bytes"), "memory_request_bytes" + task);
  EXPECT_EQ(now("windows_container_cpu_usage_seconds_total"), "cpu_seconds_total" + task);
  EXPECT_EQ(now("windows_container_memory_usage_private_working_set_bytes"), "memory_bytes" + task);
  const auto otel = [&](std::string_view metric) {
    return with(metric, "k8s_container_name", "k8s_pod_name", "k8s_namespace_name");
  };
  EXPECT_EQ(otel("container_cpu_usage"), "cpu_cores" + task);
  EXPECT_EQ(otel("k8s_container_cpu_usage"), "cpu_cores" + task);
  EXPECT_EQ(otel("container_cpu_time_seconds_total"), "cpu_seconds_total" + task);
  EXPECT_EQ(otel("container_memory_working_set_bytes"), "memory_bytes" + task);
  EXPECT_EQ(otel("k8s_container_memory_limit_bytes"), "memory_limit_bytes" + task);
  EXPECT_EQ(mapper.jobs().size(), 1U);
}

TEST(SeriesMapper, CountsPodsWhoseContainersNoSeriesNames) {
  SeriesMapper mapper = NewMapper();
  const auto memory = [](std::string_view pod, std::string_view container) {
    return MappedLabels{{"__name__", "container_memory_working_set_bytes"},
                        {"container", container},
                        {"id", "/kubepods.slice/kubepods-podabc.slice"},
                        {"namespace", "shop"},
                        {"pod", pod}};
  };
  EXPECT_EQ(Resolve(mapper, memory("web-1", "")).outcome, Outcome::kUnmapped);
  (void)Resolve(mapper, memory("web-2", ""));
  (void)Resolve(mapper, memory("db-0", ""));
  (void)Resolve(mapper, memory("db-0", "POD"));
  EXPECT_EQ(mapper.counts().pods_without_containers, 3U);
  (void)Resolve(mapper, memory("db-0", "db"), After(30));
  EXPECT_EQ(mapper.counts().pods_without_containers, 2U);
  (void)Resolve(mapper, memory("web-2", ""), After(30));
  (void)mapper.ForgetIdle(After(61), 3600);
  EXPECT_EQ(mapper.counts().pods_without_containers, 1U) << "web-1 is gone";
}

// node_exporter's figures are totals of a machine: the job is marked by a label, and sums leave it out.
TEST(SeriesMapper, AJobOfWholeMachinesIsMarkedAlsoIfItIsKnownAlready) {
  const auto label = [](const SeriesMapper& mapper, uint32_t slot) {
    return mapper.jobs().FactsOf(mapper.binding(slot).job).labels;
  };
  const std::vector<Label> machine = {{"workload", "machine"}};
  const MappedLabels cpu = {{"__name__", "node_cpu_seconds_total"},
                            {"cpu", "0"},
                            {"instance", "h:1"},
                            {"job", "node"},
                            {"mode", "user"}};
  SeriesMapper fresh = NewMapper();
  EXPECT_EQ(label(fresh, Resolve(fresh, cpu).slot), machine);
  const std::vector<Label> pod = {{"namespace", "shop"}};
  EXPECT_EQ(label(fresh, Resolve(fresh, Cpu("db-0")).slot), pod);
  SeriesMapper known = NewMapper();
  known.jobs().Restore(JobId{0}, "machine/node");
  EXPECT_EQ(label(known, Resolve(known, cpu).slot), machine);
  EXPECT_THAT(known.jobs().TakeRelabelled(), ElementsAre(JobId{0}));
}

TEST(SeriesMapper, AJobHasTheWorkloadOfTheRuleThatNamedIt) {
  SeriesMapper mapper = NewMapper();
  const auto workload = [&mapper](uint32_t slot) {
    const SeriesJobs::Facts facts = mapper.jobs().FactsOf(mapper.binding(slot).job);
    return facts.parts.In(facts.name);
  };
  EXPECT_EQ(
      workload(Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z")).slot),
      (Workload{
          .source = Source::kKubernetes, .namespace_name = "shop", .kind = "deployment", .name = "web"}));
  const MappedLabels docker = {
      {"__name__", "container_cpu_usage_seconds_total"}, {"instance", "h:1"}, {"name", "db"}};
  EXPECT_EQ(workload(Resolve(mapper, docker).slot),
            (Workload{.source = Source::kDocker, .name = "docker/db"}));
  const LabelView none[] = {{"x", "y"}};
  EXPECT_EQ(workload(mapper.ResolveTask("batch/import", "1", none, After(0)).slot),
            (Workload{.source = Source::kAgents, .name = "batch/import"}));
  // An agent that measures a pod's container sends the name of the agent's job; series name the workload.
  const uint32_t task = mapper.ResolveTask("shop/statefulset/db", "db-0", none, After(0)).slot;
  EXPECT_EQ(workload(task).source, Source::kAgents);
  (void)mapper.jobs().TakeRelabelled();
  (void)Resolve(mapper, Cpu("db-0"));
  EXPECT_EQ(workload(task).kind, "statefulset");
  EXPECT_THAT(mapper.jobs().TakeRelabelled(), ElementsAre(mapper.binding(task).job));
}

TEST(SeriesMapper, GivesSlotsOnceAndTasksWithinJobs) {
  SeriesMapper mapper = NewMapper();
  const auto a = Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z"));
  const auto b = Resolve(mapper, Cpu("web-5d4f8c7b9d-bcdfg"));
  const auto side = Resolve(mapper, Cpu("web-5d4f8c7b9d-bcdfg", "proxy"));
  const auto db = Resolve(mapper, Cpu("db-0"));
  EXPECT_EQ(a.outcome, Outcome::kMapped);
  EXPECT_THAT(mapper.jobs().Names(), ElementsAre("shop/deployment/web", "shop/statefulset/db"));
  EXPECT_EQ(mapper.binding(a.slot).task, 0U);
  EXPECT_EQ(mapper.binding(b.slot).task, 1U);
  EXPECT_EQ(mapper.binding(side.slot).task, 1U);
  EXPECT_NE(mapper.binding(side.slot).part, mapper.binding(b.slot).part);
  EXPECT_EQ(mapper.binding(db.slot).task, 0U);
  EXPECT_EQ(mapper.jobs().tasks.name(mapper.binding(b.slot).task_entry), "web-5d4f8c7b9d-bcdfg");
  const uint64_t version = mapper.version();
  EXPECT_EQ(Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z")).slot, a.slot);
  EXPECT_EQ(mapper.version(), version);
  EXPECT_EQ(Resolve(mapper, {{"__name__", "up"}}).outcome, Outcome::kUnmapped);
  EXPECT_EQ(mapper.counts().mapped_series, 4U);
  EXPECT_EQ(mapper.counts().unmapped_series, 1U);
}

TEST(SeriesMapper, TheOrderOfLabelsDoesNotMatter) {
  SeriesMapper mapper = NewMapper();
  MappedLabels labels = Cpu("db-0");
  std::reverse(labels.begin(), labels.end());
  const auto reversed = Resolve(mapper, labels);
  EXPECT_EQ(Resolve(mapper, Cpu("db-0")).slot, reversed.slot);
  std::swap(labels[0], labels[1]);
  EXPECT_EQ(Resolve(mapper, labels).slot, reversed.slot);
  EXPECT_EQ(mapper.num_slots(), 1U);
  // A series stays known while it is resolved with any order of its labels.
  for (int m = 0; m <= 120; m += 10) Resolve(mapper, labels, After(m));
  EXPECT_THAT(mapper.ForgetIdle(After(120)), IsEmpty());
  EXPECT_EQ(Resolve(mapper, labels, After(121)).slot, reversed.slot);
}

TEST(SeriesMapper, LooksAgainWhenAnOwnerBecomesKnown) {
  SeriesMapper mapper = NewMapper();
  const auto a = Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z"));
  const auto side = Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z", "proxy"));
  const auto other = Resolve(mapper, Cpu("db-0"));
  EXPECT_EQ(Resolve(mapper, PodOwner("web-5d4f8c7b9d-x2x4z", "Rollout", "storefront")).outcome,
            Outcome::kFact);
  const auto again = Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z"));
  EXPECT_EQ(again.slot, a.slot);
  EXPECT_EQ(JobOf(mapper, a.slot), "shop/rollout/storefront");
  // The job stays until the series is resolved again.
  EXPECT_EQ(JobOf(mapper, side.slot), "shop/deployment/web");
  Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z", "proxy"));
  EXPECT_EQ(JobOf(mapper, side.slot), "shop/rollout/storefront");
  EXPECT_EQ(mapper.binding(side.slot).task, mapper.binding(a.slot).task);
  EXPECT_EQ(JobOf(mapper, other.slot), "shop/statefulset/db");
  EXPECT_EQ(mapper.counts().rebound_series, 2U);
  // A repeated fact changes nothing.
  const uint64_t version = mapper.version();
  Resolve(mapper, PodOwner("web-5d4f8c7b9d-x2x4z", "Rollout", "storefront"));
  Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z"));
  EXPECT_EQ(mapper.version(), version);
}

TEST(SeriesMapper, ForgetsWhatIsNotHeardOfAndUsesItsSlotAgain) {
  SeriesMapper mapper = NewMapper();
  const auto gone = Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z"));
  const auto stays = Resolve(mapper, Cpu("web-5d4f8c7b9d-bcdfg"));
  Resolve(mapper, PodOwner("lone-1", "<none>", "<none>"));
  Resolve(mapper, {{"__name__", "up"}});
  Resolve(mapper, Cpu("web-5d4f8c7b9d-bcdfg"), After(30));
  EXPECT_THAT(mapper.ForgetIdle(After(59)), IsEmpty());
  EXPECT_THAT(mapper.ForgetIdle(After(60)), ElementsAre(gone.slot));
  EXPECT_FALSE(mapper.binding(gone.slot).in_use);
  EXPECT_EQ(mapper.counts().mapped_series, 1U);
  EXPECT_EQ(mapper.counts().unmapped_series, 0U);
  EXPECT_EQ(mapper.counts().fact_series, 0U);
  // The series returns and is assigned a free slot, its previous job, and a new task.
  const auto back = Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z"), After(61));
  EXPECT_EQ(back.slot, gone.slot);
  EXPECT_EQ(mapper.binding(back.slot).job, mapper.binding(stays.slot).job);
  EXPECT_EQ(mapper.binding(back.slot).task, 2U);
  EXPECT_EQ(mapper.num_slots(), 2U);
  // After the clock was set back, no series is idle.
  EXPECT_THAT(mapper.ForgetIdle(After(-600)), IsEmpty());
}

TEST(SeriesMapper, HoldsItsLimits) {
  SeriesMapper mapper = NewMapper({.max_series = 2, .max_jobs = 1, .max_name_bytes = 24});
  EXPECT_EQ(Resolve(mapper, Cpu("web-0")).outcome, Outcome::kMapped);
  EXPECT_EQ(Resolve(mapper, Cpu("db-0")).outcome, Outcome::kRefused);   // a second job
  EXPECT_EQ(Resolve(mapper, Cpu("web-1")).outcome, Outcome::kRefused);  // a third series
  EXPECT_EQ(Resolve(mapper, Cpu("web-0")).outcome, Outcome::kMapped);
  EXPECT_EQ(mapper.counts().refused_series, 2U);
  SeriesMapper names = NewMapper({.max_name_bytes = 24});
  EXPECT_EQ(Resolve(names, Cpu("a-name-that-is-far-too-long-0")).outcome, Outcome::kRefused);
  EXPECT_EQ(Resolve(names, Cpu("web\n-0")).outcome, Outcome::kRefused);
  EXPECT_EQ(names.counts().refused_series, 2U);
  EXPECT_THAT(names.jobs().Names(), IsEmpty());
}

// A client that normalises the path of a URL would read another job for such a name.
TEST(SeriesMapper, ANameWithDotPartsIsRefused) {
  SeriesMapper mapper = NewMapper();
  for (const char* job : {"ten/../../act1/deployment/over/app", "..", "./a", "a/.", "a/.."})
    EXPECT_EQ(mapper.ResolveTask(job, "t", {}, kNow).outcome, Outcome::kRefused) << job;
  for (const char* job : {"a/..b", "a..b/c.", "...", "a//b"})
    EXPECT_EQ(mapper.ResolveTask(job, "t", {}, kNow).outcome, Outcome::kMapped) << job;
  // A pod's own label with its owner is also ignored.
  const auto pod = Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z"));
  Resolve(mapper, PodOwner("web-5d4f8c7b9d-x2x4z", "ReplicaSet", "../../act1/deployment/over"));
  Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z"));
  EXPECT_EQ(JobOf(mapper, pod.slot), "shop/pod/web-5d4f8c7b9d-x2x4z");
}

TEST(SeriesMapper, AStoresJobsKeepTheirNumbers) {
  SeriesMapper mapper = NewMapper();
  EXPECT_EQ(mapper.jobs().Intern("shop/statefulset/db"), JobId{0});
  EXPECT_EQ(mapper.jobs().Intern("shop/statefulset/web"), JobId{1});
  EXPECT_EQ(mapper.jobs().Intern("shop/statefulset/db"), JobId{0});
  EXPECT_EQ(mapper.binding(Resolve(mapper, Cpu("web-0")).slot).job, JobId{1});
}

// At any time, each series in use has a separate slot, bound as the rules map the series.
RC_GTEST_PROP(SeriesMapper, StaysTrueWhileSeriesComeAndGo, ()) {
  SeriesMapper mapper = NewMapper();
  // Key: series; value: slot, and minute of the last sample.
  std::map<uint32_t, std::pair<uint32_t, int64_t>> alive;
  int64_t minute = 0;
  for (const auto& [series, step] : *rc::gen::container<std::vector<std::pair<uint32_t, int>>>(
           rc::gen::pair(rc::gen::inRange(0U, 60U), rc::gen::inRange(0, 20)))) {
    minute += step;
    const NamedSample s = CadvisorSample(series, 0);
    const auto r = Resolve(mapper, ViewOf(s).labels, After(minute));
    RC_ASSERT(r.outcome == Outcome::kMapped);
    if (const auto it = alive.find(series); it != alive.end()) RC_ASSERT(it->second.first == r.slot);
    alive[series] = {r.slot, minute};
    const std::vector<uint32_t> freed = mapper.ForgetIdle(After(minute));
    for (const uint32_t slot : freed) {
      const auto it =
          std::find_if(alive.begin(), alive.end(), [slot](const auto& e) { return e.second.first == slot; });
      RC_ASSERT(it != alive.end());
      RC_ASSERT(it->second.second <= minute - 60);
      alive.erase(it);
    }
    std::set<uint32_t> slots;
    for (const auto& [number, entry] : alive) {
      RC_ASSERT(slots.insert(entry.first).second);
      RC_ASSERT(entry.second > minute - 60);
      const NamedSample named = CadvisorSample(number, 0);
      const auto expected = mapper.Explain(ViewOf(named).labels);
      RC_ASSERT(expected.has_value());
      RC_ASSERT(JobOf(mapper, entry.first) == expected->job);
      RC_ASSERT(mapper.jobs().tasks.name(mapper.binding(entry.first).task_entry) == expected->task);
    }
    RC_ASSERT(mapper.counts().mapped_series == alive.size());
  }
}

// ---- tasks that agents name ----

TEST(SeriesMapper, TasksOfAgentsNeedNoRule) {
  SeriesMapper mapper = NewMapper();
  const MappedLabels labels = {{"team", "shop"}, {"zone", "b"}};
  const auto a = mapper.ResolveTask("batch/import", "host/a", labels, kNow);
  EXPECT_EQ(a.outcome, Outcome::kMapped);
  EXPECT_EQ(a.kind, SeriesKind::kTaskWindow);
  EXPECT_EQ(JobOf(mapper, a.slot), "batch/import");
  EXPECT_EQ(mapper.jobs().tasks.name(mapper.binding(a.slot).task_entry), "host/a");
  EXPECT_THAT(mapper.jobs().FactsOf(mapper.binding(a.slot).job).labels,
              ElementsAre(std::pair("team", "shop")));
  const uint64_t version = mapper.version();
  EXPECT_EQ(mapper.ResolveTask("batch/import", "host/a", {}, kNow).slot, a.slot);
  EXPECT_EQ(mapper.version(), version);
  EXPECT_NE(mapper.ResolveTask("batch/import", "host/b", {}, kNow).slot, a.slot);
  // Names stay different even if their concatenations with the task are equal.
  const auto x = mapper.ResolveTask("ab", "c", {}, kNow), y = mapper.ResolveTask("a", "bc", {}, kNow);
  EXPECT_NE(x.slot, y.slot);
  EXPECT_NE(JobOf(mapper, x.slot), JobOf(mapper, y.slot));
}

TEST(SeriesMapper, ATaskOfSeriesAndOfAnAgentIsOneTask) {
  SeriesMapper mapper = NewMapper();
  const auto series = Resolve(mapper, Cpu("db-0"));
  const std::string task(mapper.jobs().tasks.name(mapper.binding(series.slot).task_entry));
  const auto told = mapper.ResolveTask("shop/statefulset/db", task, {}, kNow);
  EXPECT_NE(told.slot, series.slot);
  EXPECT_EQ(mapper.binding(told.slot).job, mapper.binding(series.slot).job);
  EXPECT_EQ(mapper.binding(told.slot).task, mapper.binding(series.slot).task);
}

TEST(SeriesMapper, TasksOfAgentsHaveTheSameBounds) {
  SeriesMapper::Options options;
  options.max_series = 2;
  options.max_name_bytes = 8;
  SeriesMapper mapper = NewMapper(options);
  EXPECT_EQ(mapper.ResolveTask("", "a", {}, kNow).outcome, Outcome::kRefused);
  EXPECT_EQ(mapper.ResolveTask("j", "", {}, kNow).outcome, Outcome::kRefused);
  EXPECT_EQ(mapper.ResolveTask("j", "a-name-too-long", {}, kNow).outcome, Outcome::kRefused);
  EXPECT_EQ(mapper.counts().refused_series, 3U);
  EXPECT_THAT(mapper.jobs().Names(), IsEmpty());
  EXPECT_EQ(mapper.ResolveTask("j", "a", {}, kNow).outcome, Outcome::kMapped);
  EXPECT_EQ(mapper.ResolveTask("j", "b", {}, kNow).outcome, Outcome::kRefused) << "two are remembered";
}

TEST(SeriesMapper, IdleTasksOfAgentsAreForgotten) {
  SeriesMapper mapper = NewMapper();
  const auto a = mapper.ResolveTask("j", "a", {}, kNow), b = mapper.ResolveTask("j", "b", {}, kNow);
  mapper.ResolveTask("j", "b", {}, After(50));
  EXPECT_THAT(mapper.ForgetIdle(After(90)), ElementsAre(a.slot));
  EXPECT_EQ(mapper.counts().mapped_series, 1U);
  EXPECT_EQ(mapper.ResolveTask("j", "b", {}, After(90)).slot, b.slot);
  const auto again = mapper.ResolveTask("j", "a", {}, After(90));
  EXPECT_EQ(mapper.binding(again.slot).task, 2U) << "numbers are not used again";
}

// ---- names that collide, and one container measured by two sources ----

const std::string kContainer(64, 'c'), kOtherContainer(64, 'd');

MappedLabels DockerSeries(std::string_view metric, std::string_view id) {
  return {{"__name__", metric}, {"id", id}, {"instance", "h:8080"}, {"name", "shop-web-1"}};
}

TEST(SeriesMapper, ADeploymentAndACronJobOfOneNameAreTwoJobs) {
  SeriesMapper mapper = NewMapper();
  const auto a = Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z")), b = Resolve(mapper, Cpu("web-28394820-x2x4z"));
  EXPECT_EQ(JobOf(mapper, a.slot), "shop/deployment/web");
  EXPECT_EQ(JobOf(mapper, b.slot), "shop/cronjob/web");
  EXPECT_EQ(mapper.counts().name_collisions, 0U);
}

TEST(SeriesMapper, AContainerThatAnAgentMeasuresIsOneTask) {
  SeriesMapper mapper = NewMapper();
  const std::string id = "/docker/" + kContainer, other_id = "/docker/" + kOtherContainer;
  const MappedLabels cpu = DockerSeries("container_cpu_usage_seconds_total", id);
  const MappedLabels limit = DockerSeries("container_spec_memory_limit_bytes", id);
  MappedLabels other = DockerSeries("container_cpu_usage_seconds_total", other_id);
  other[3].value = "shop-web-2";
  // The series arrive first and are mapped to a job with another name.
  const auto series = Resolve(mapper, cpu);
  EXPECT_EQ(JobOf(mapper, series.slot), "docker/shop-web-1");
  const auto told = mapper.ResolveTask("docker/shop/web", "h/shop-web-1", {}, kNow, kContainer);
  const auto again = Resolve(mapper, cpu), of_limit = Resolve(mapper, limit), beside = Resolve(mapper, other);
  for (const auto& s : {again, of_limit}) {
    EXPECT_EQ(mapper.binding(s.slot).job, mapper.binding(told.slot).job);
    EXPECT_EQ(mapper.binding(s.slot).task, mapper.binding(told.slot).task);
  }
  EXPECT_FALSE(mapper.binding(again.slot).left_out) << "they count while the agent reports nothing";
  EXPECT_TRUE(mapper.binding(of_limit.slot).left_out) << "the limit may be Tautline's";
  EXPECT_NE(mapper.binding(beside.slot).job, mapper.binding(told.slot).job);
  EXPECT_EQ(mapper.counts().claimed_series, 2U);
  EXPECT_EQ(mapper.counts().name_collisions, 0U);
  // The agent is disconnected for long: the series still belong to its task, and their limit is ignored.
  for (int m = 0; m <= 120; m += 30) {
    Resolve(mapper, cpu, After(m));
    Resolve(mapper, limit, After(m));
    mapper.ForgetIdle(After(m));
  }
  EXPECT_EQ(JobOf(mapper, again.slot), "docker/shop/web");
  EXPECT_TRUE(mapper.binding(of_limit.slot).left_out);
}

TEST(SeriesMapper, ATaskMayBecomeThatOfAnotherContainerOrJob) {
  SeriesMapper mapper = NewMapper();
  const std::string id = "/docker/" + kContainer;
  const MappedLabels cpu = DockerSeries("container_cpu_usage_seconds_total", id);
  const auto series = Resolve(mapper, cpu);
  mapper.ResolveTask("docker/web", "h/web", {}, kNow, kContainer);
  Resolve(mapper, cpu);
  EXPECT_EQ(JobOf(mapper, series.slot), "docker/web");
  // The agent now uses another template for names.
  mapper.ResolveTask("shop/web", "h/web", {}, kNow, kContainer);
  Resolve(mapper, cpu);
  EXPECT_EQ(JobOf(mapper, series.slot), "shop/web");
  // The container was created again: its new series also belong to the task.
  const std::string fresh_id = "/docker/" + kOtherContainer;
  mapper.ResolveTask("shop/web", "h/web", {}, kNow, kOtherContainer);
  EXPECT_EQ(JobOf(mapper, Resolve(mapper, DockerSeries("container_cpu_usage_seconds_total", fresh_id)).slot),
            "shop/web");
}

TEST(SeriesMapper, TwoSourcesOfOneNameAreCounted) {
  SeriesMapper mapper = NewMapper();
  const auto api =
      Resolve(mapper, {{"__name__", "process_cpu_seconds_total"}, {"instance", "h:1"}, {"job", "api"}});
  const JobId job = mapper.binding(api.slot).job;
  EXPECT_EQ(mapper.Collision(job), "");
  mapper.ResolveTask("api", "h/api", {}, kNow);
  EXPECT_EQ(mapper.Collision(job), "agents, processes' own metrics");
  EXPECT_EQ(mapper.counts().name_collisions, 1U);
  mapper.ResolveTask("api", "h2/api", {}, kNow);
  EXPECT_EQ(mapper.counts().name_collisions, 1U);
  // Containers with IDs may exist beside containers that agents measure.
  const std::string id = "/docker/" + kContainer;
  const auto web = Resolve(mapper, DockerSeries("container_cpu_usage_seconds_total", id));
  mapper.ResolveTask("docker/shop-web-1", "h3/web", {}, kNow);
  EXPECT_EQ(mapper.Collision(mapper.binding(web.slot).job), "");
  EXPECT_EQ(mapper.counts().name_collisions, 1U);
  mapper.ForgetIdle(After(60));
  EXPECT_TRUE(mapper.ForgetJob(job, 1));
  EXPECT_EQ(mapper.counts().name_collisions, 0U);
}

TEST(SeriesMapper, RulesThatLeaveOutTheClusterAreCounted) {
  SeriesMapper mapper(
      *MappingRules::Compile({{"mine", "cpu", {}, SeriesKind::kCpuCores, "{app}", "{instance}", "", 1},
                              {"more", "cpu2", {}, SeriesKind::kCpuCores, "{app}", "{instance}", "", 1}}));
  const auto series = [&](std::string_view metric, std::string_view cluster) {
    MappedLabels labels = {{"__name__", metric}, {"app", "web"}, {"instance", "h"}};
    if (!cluster.empty()) labels.push_back({"cluster", cluster});
    return mapper.binding(Resolve(mapper, labels).slot).job;
  };
  const JobId job = series("cpu", "");
  series("cpu2", "");
  EXPECT_EQ(mapper.Collision(job), "") << "custom rules add up on purpose";
  series("cpu", "north");
  EXPECT_EQ(mapper.Collision(job), "");
  series("cpu", "south");
  EXPECT_EQ(mapper.Collision(job), "cluster north, cluster south");
}

// ---- labels of pods ----

MappedLabels PodLabels(std::string_view pod, std::string_view team) {
  return {{"__name__", "kube_pod_labels"},
          {"label_other", "x"},
          {"label_team", team},
          {"namespace", "shop"},
          {"pod", pod}};
}

TEST(SeriesMapper, LabelsOfPodsBecomeTheirJobs) {
  SeriesMapper mapper = NewMapper();
  EXPECT_EQ(Resolve(mapper, PodLabels("web-5d4f8c7b9d-bcdfg", "red")).outcome, Outcome::kFact);
  const auto a = Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z"));
  const JobId job = mapper.binding(a.slot).job;
  EXPECT_THAT(mapper.jobs().FactsOf(job).labels, ElementsAre(std::pair("namespace", "shop")));
  EXPECT_THAT(mapper.jobs().TakeRelabelled(), IsEmpty());
  Resolve(mapper, Cpu("web-5d4f8c7b9d-bcdfg"));  // a pod whose labels were known before
  EXPECT_THAT(mapper.jobs().FactsOf(job).labels,
              ElementsAre(std::pair("namespace", "shop"), std::pair("team", "red")));
  EXPECT_THAT(mapper.jobs().TakeRelabelled(), ElementsAre(job));
  Resolve(mapper, PodLabels("web-5d4f8c7b9d-x2x4z", "red"));
  EXPECT_THAT(mapper.jobs().TakeRelabelled(), IsEmpty()) << "nothing has changed";
  Resolve(mapper, PodLabels("web-5d4f8c7b9d-x2x4z", "blue"));
  EXPECT_THAT(mapper.jobs().TakeRelabelled(), ElementsAre(job));
  EXPECT_THAT(mapper.jobs().FactsOf(job).labels,
              ElementsAre(std::pair("namespace", "shop"), std::pair("team", "blue")));
  // The end of a fact does not end other facts about the pod.
  Resolve(mapper, PodOwner("web-5d4f8c7b9d-x2x4z", "Rollout", "storefront"), After(50));
  mapper.ForgetIdle(After(70));
  EXPECT_EQ(JobOf(mapper, Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z"), After(70)).slot),
            "shop/rollout/storefront");
}

// A pod's labels must not set its place: a person who may label a pod could charge its costs to another group.
TEST(SeriesMapper, APodsLabelsDoNotSayWhereItIs) {
  SeriesMapper mapper = NewMapper();
  MappedLabels labels = PodLabels("web-5d4f8c7b9d-x2x4z", "red");
  labels.insert(labels.begin() + 1, {{"label_cluster", "other"}, {"label_namespace", "other"}});
  Resolve(mapper, labels);
  const auto a = Resolve(mapper, Cpu("web-5d4f8c7b9d-x2x4z"));
  EXPECT_THAT(mapper.jobs().FactsOf(mapper.binding(a.slot).job).labels,
              ElementsAre(std::pair("namespace", "shop"), std::pair("team", "red")));
}

TEST(SeriesMapper, RunsAreOfTheProgramThatTheirPodsName) {
  SeriesMapper mapper = NewMapper();
  const auto labels_of = [](std::string_view program) {
    return MappedLabels{{"__name__", "kube_pod_labels"},
                        {"label_tautline_dev_job", program},
                        {"namespace", "shop"},
                        {"pod", "import-x2x4z-bcdfg"}};
  };
  const auto owners = [&](int minute) {
    Resolve(mapper, PodOwner("import-x2x4z-bcdfg", "Job", "import-x2x4z"), After(minute));
    Resolve(mapper,
            {{"__name__", "kube_job_owner"},
             {"job_name", "import-x2x4z"},
             {"namespace", "shop"},
             {"owner_kind", "<none>"},
             {"owner_name", "<none>"}},
            After(minute));
  };
  owners(0);
  const auto job = [&](int minute) {
    return JobOf(mapper, Resolve(mapper, Cpu("import-x2x4z-bcdfg"), After(minute)).slot);
  };
  EXPECT_EQ(job(0), "shop/job/import");
  EXPECT_EQ(Resolve(mapper, labels_of("load")).outcome, Outcome::kFact);
  EXPECT_EQ(job(0), "shop/job/load");
  Resolve(mapper, labels_of("a/b"), After(1));
  EXPECT_EQ(job(1), "shop/job/load") << "a name is one part of a job's";
  Resolve(mapper, labels_of("store"), After(50));
  EXPECT_EQ(job(50), "shop/job/store");
  owners(50);
  // This call forgets the first series; a later series has another fact about its pod.
  mapper.ForgetIdle(After(70));
  EXPECT_EQ(job(70), "shop/job/store");
}

TEST(SeriesMapper, ATaskIsOfItsJobAndItsNumberIsFoundAsLongAsItIsThere) {
  SeriesMapper mapper = NewMapper();
  const auto web = mapper.ResolveTask("shop/web", "t0", {}, kNow);
  const auto db = mapper.ResolveTask("shop/db", "t0", {}, kNow);
  const auto more = mapper.ResolveTask("shop/db", "t1", {}, kNow);
  const JobId web_job = mapper.binding(web.slot).job, db_job = mapper.binding(db.slot).job;
  EXPECT_EQ(mapper.jobs().tasks.Find(web_job, "t0"), 0U);
  EXPECT_EQ(mapper.jobs().tasks.Find(db_job, "t1"), mapper.binding(more.slot).task);
  EXPECT_EQ(mapper.jobs().tasks.Find(web_job, "t1"), std::nullopt);
  mapper.ResolveTask("shop/db", "t1", {}, After(59));
  mapper.ForgetIdle(After(60));
  EXPECT_EQ(mapper.jobs().tasks.Find(web_job, "t0"), std::nullopt);
  EXPECT_EQ(mapper.jobs().tasks.Find(db_job, "t0"), std::nullopt);
  EXPECT_EQ(mapper.jobs().tasks.Find(db_job, "t1"), 1U);
  // The task's entry is reused, but the task's number within the job is not.
  mapper.ResolveTask("shop/db", "t0", {}, After(61));
  EXPECT_EQ(mapper.jobs().tasks.Find(db_job, "t0"), 2U);
}

TEST(SeriesMapper, AJobTakesTheRoomThatItsNamesTake) {
  SeriesMapper mapper = NewMapper();
  constexpr size_t kJobs = 10'000;
  for (size_t i = 0; i < kJobs; ++i) {
    const std::string pod = StrCat("service-", i, "-5d4f8c7b9d-x2x4z");
    Resolve(mapper, Cpu(pod));
    MappedLabels memory = Cpu(pod);
    memory[0].value = "container_memory_working_set_bytes";
    Resolve(mapper, memory);
  }
  ASSERT_EQ(mapper.jobs().size(), kJobs);
  EXPECT_LT(mapper.state_bytes() / kJobs, 500U);
  EXPECT_THAT(mapper.jobs().FactsOf(JobId{7}).labels, ElementsAre(std::pair("namespace", "shop")));
}

}  // namespace
}  // namespace taut::server
