// Tests of the built-in rules with common series, and of patterns, templates and owners one by one.
#include "server/ingest/mapping_rules.h"

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/ingest/owners.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::optional<Mapping> MatchOf(const std::vector<LabelView>& labels, const OwnerTable& owners = {}) {
  static const MappingRules rules = *MappingRules::Compile(BuiltinRules());
  return rules.Match(
      labels, [&owners](std::string_view scope, std::string_view pod) { return owners.Find(scope, pod); });
}
// Returns "kind job task part scale", or "-" if no rule matches.
std::string Mapped(const std::vector<LabelView>& labels) {
  const std::optional<Mapping> m = MatchOf(labels);
  if (!m.has_value()) return "-";
  return StrCat(Name(m->kind), " ", m->job, " ", m->task, " [", m->part, "] ", m->scale);
}

TEST(BuiltinRules, TakeCadvisorsContainers) {
  const auto with = [](std::string_view metric, std::vector<LabelView> more) {
    std::vector<LabelView> labels = {
        {"__name__", metric}, {"namespace", "shop"}, {"pod", "web-5d4f8c7b9d-x2x4z"}};
    labels.insert(labels.end(), more.begin(), more.end());
    return Mapped(labels);
  };
  const std::string_view cpu = "container_cpu_usage_seconds_total";
  EXPECT_EQ(with(cpu, {{"container", "app"}, {"cpu", "total"}}),
            "cpu_seconds_total shop/deployment/web web-5d4f8c7b9d-x2x4z [app] 1");
  EXPECT_EQ(with(cpu, {{"container", "app"}}),
            "cpu_seconds_total shop/deployment/web web-5d4f8c7b9d-x2x4z [app] 1");
  EXPECT_EQ(with(cpu, {{"container", "app"}, {"cpu", "cpu07"}}),
            "-");  // the sum over CPUs is a separate series
  EXPECT_EQ(with(cpu, {{"container", "POD"}}), "-");
  EXPECT_EQ(with(cpu, {}), "-");  // the sum over the whole pod
  EXPECT_EQ(with("container_memory_working_set_bytes", {{"container", "app"}}),
            "memory_bytes shop/deployment/web web-5d4f8c7b9d-x2x4z [app] 1");
  EXPECT_EQ(with("container_spec_cpu_quota", {{"container", "app"}}),
            "cpu_limit_cores shop/deployment/web web-5d4f8c7b9d-x2x4z [app] 1e-05");
  EXPECT_EQ(with("container_oom_events_total", {{"container", "app"}}),
            "oom_total shop/deployment/web web-5d4f8c7b9d-x2x4z [app] 1");
  EXPECT_EQ(with("kube_pod_container_resource_limits", {{"container", "app"}, {"resource", "cpu"}}),
            "cpu_limit_cores shop/deployment/web web-5d4f8c7b9d-x2x4z [app] 1");
  EXPECT_EQ(with("kube_pod_container_resource_limits", {{"container", "app"}, {"resource", "memory"}}),
            "memory_limit_bytes shop/deployment/web web-5d4f8c7b9d-x2x4z [app] 1");
  EXPECT_EQ(
      with("kube_pod_container_resource_limits", {{"container", "app"}, {"resource", "nvidia_com_gpu"}}),
      "-");
  EXPECT_EQ(with("up", {}), "-");
}

TEST(BuiltinRules, TakeOwners) {
  EXPECT_EQ(Mapped({{"__name__", "kube_pod_owner"},
                    {"namespace", "shop"},
                    {"pod", "p"},
                    {"owner_kind", "ReplicaSet"},
                    {"owner_name", "web-1"},
                    {"owner_is_controller", "true"}}),
            "owner shop/Pod/p ReplicaSet/web-1 [] 1");
  EXPECT_EQ(Mapped({{"__name__", "kube_pod_owner"},
                    {"namespace", "shop"},
                    {"pod", "p"},
                    {"owner_kind", "<none>"},
                    {"owner_name", "<none>"},
                    {"owner_is_controller", "<none>"}}),
            "owner shop/Pod/p <none>/<none> [] 1");
  EXPECT_EQ(Mapped({{"__name__", "kube_job_owner"},
                    {"namespace", "shop"},
                    {"job_name", "backup-28394820"},
                    {"owner_kind", "CronJob"},
                    {"owner_name", "backup"}}),
            "owner shop/Job/backup-28394820 CronJob/backup [] 1");
  EXPECT_EQ(Mapped({{"__name__", "kube_job_labels"},
                    {"namespace", "shop"},
                    {"job_name", "import-x2x4z"},
                    {"label_tautline_dev_job", "import"}}),
            "owner shop/ProgramOfJob/import-x2x4z Program/import [] 1");
  EXPECT_EQ(Mapped({{"__name__", "kube_job_labels"}, {"namespace", "shop"}, {"job_name", "import-x2x4z"}}),
            "-");
}

TEST(BuiltinRules, TakeDockerExportersAndTautlet) {
  const std::string_view cpu = "container_cpu_usage_seconds_total";
  EXPECT_EQ(Mapped({{"__name__", cpu},
                    {"name", "shop-web-1"},
                    {"instance", "host:8080"},
                    {"cpu", "total"},
                    {"container_label_com_docker_compose_project", "shop"},
                    {"container_label_com_docker_compose_service", "web"}}),
            "cpu_seconds_total docker/shop/web host:8080/shop-web-1 [] 1");
  EXPECT_EQ(Mapped({{"__name__", cpu}, {"name", "redis"}, {"instance", "host:8080"}}),
            "cpu_seconds_total docker/redis host:8080/redis [] 1");
  EXPECT_EQ(Mapped({{"__name__", "namedprocess_namegroup_cpu_seconds_total"},
                    {"groupname", "postgres"},
                    {"mode", "user"},
                    {"instance", "h:9256"}}),
            "cpu_seconds_total process/postgres h:9256 [user] 1");
  EXPECT_EQ(Mapped({{"__name__", "namedprocess_namegroup_memory_bytes"},
                    {"groupname", "postgres"},
                    {"memtype", "virtual"},
                    {"instance", "h:9256"}}),
            "-");
  EXPECT_EQ(Mapped({{"__name__", "process_cpu_seconds_total"}, {"job", "api"}, {"instance", "h:1"}}),
            "cpu_seconds_total api h:1 [] 1");
  EXPECT_EQ(
      Mapped({{"__name__", "process_cpu_seconds_total"}, {"job", "api"}, {"instance", "h:1"}, {"pod", "p"}}),
      "-");
  EXPECT_EQ(Mapped({{"__name__", "node_cpu_seconds_total"},
                    {"job", "node"},
                    {"instance", "h:1"},
                    {"cpu", "0"},
                    {"mode", "user"}}),
            "cpu_seconds_total machine/node h:1 [0/user] 1");
  EXPECT_EQ(Mapped({{"__name__", "node_cpu_seconds_total"},
                    {"job", "node"},
                    {"instance", "h:1"},
                    {"cpu", "0"},
                    {"mode", "idle"}}),
            "-");
  EXPECT_EQ(Mapped({{"__name__", "node_memory_MemAvailable_bytes"}, {"job", "node"}, {"instance", "h:1"}}),
            "memory_bytes machine/node h:1 [available] -1");
}

// A target may choose any labels for its series, so a label alone must not name a job of another target.
TEST(MappingRules, NoBuiltinRuleTakesAJobsWholeNameFromALabel) {
  for (const MappingRule& rule : BuiltinRules()) {
    constexpr std::string_view kCluster = "{cluster/}";
    ASSERT_TRUE(rule.job.starts_with(kCluster)) << rule.name;
    EXPECT_THAT(rule.job.substr(kCluster.size()), testing::AnyOf(HasSubstr("/"), "{job}")) << rule.name;
    EXPECT_NE(rule.source, "") << rule.name;
    EXPECT_THAT(rule.metric, testing::Not(testing::StartsWith("tautlet_"))) << rule.name;
  }
  EXPECT_EQ(Mapped({{"__name__", "tautlet_task_cpu_seconds_total"},
                    {"taut_job", "shop/web"},
                    {"taut_task", "7"},
                    {"job", "web"},
                    {"instance", "h:1"}}),
            "-");
}

TEST(MappingRules, TheFirstRuleThatFitsDecidesAndOthersSayWhyNot) {
  const absl::StatusOr<MappingRules> rules = MappingRules::Compile({
      {"prod", "cpu|cpu_total", {{"env", "prod*"}}, SeriesKind::kCpuCores, "{app|job}", "{instance}", "", 1},
      {"rest", "cpu*", {{"env", "test", true}}, SeriesKind::kCpuCores, "rest", "{instance}", "", 1},
  });
  ASSERT_TRUE(rules.ok()) << rules.status();
  const auto nobody = [](std::string_view, std::string_view) { return TopOwner(); };
  const auto rule = [&](const std::vector<LabelView>& labels) -> int {
    const auto m = rules->Match(labels, nobody);
    return m.has_value() ? static_cast<int>(m->rule) : -1;
  };
  const std::vector<LabelView> prod = {
      {"__name__", "cpu"}, {"env", "production"}, {"job", "j"}, {"instance", "i"}};
  EXPECT_EQ(rule(prod), 0);
  EXPECT_EQ(rules->Match(prod, nobody)->job, "j");
  EXPECT_EQ(rules->WhyNot(0, prod), "");
  // If a template is empty, the rule does not match and the next rules are tried.
  const std::vector<LabelView> jobless = {{"__name__", "cpu"}, {"env", "prod"}, {"instance", "i"}};
  EXPECT_EQ(rule(jobless), 1);
  EXPECT_THAT(rules->WhyNot(0, jobless), HasSubstr("job '{app|job}'"));
  const std::vector<LabelView> test = {{"__name__", "cpu"}, {"env", "test"}, {"job", "j"}, {"instance", "i"}};
  EXPECT_EQ(rule(test), -1);
  EXPECT_THAT(rules->WhyNot(0, test), HasSubstr("label env is 'test' and must be 'prod*'"));
  EXPECT_THAT(rules->WhyNot(1, test), HasSubstr("must not be 'test'"));
  EXPECT_THAT(rules->WhyNot(1, std::vector<LabelView>{{"__name__", "mem"}}), HasSubstr("metric is 'mem'"));
}

// The documentation shows the name of the built-in rules without the cluster.
TEST(MappingRules, AJobWithTheBuiltinNameIsAWorkload) {
  const auto workload = [](const char* job) {
    const auto rules =
        MappingRules::Compile({{"mine", "cpu", {}, SeriesKind::kCpuCores, job, "{pod}", "", 1}});
    const std::vector<LabelView> labels = {
        {"__name__", "cpu"}, {"cluster", "eu"}, {"namespace", "logging"}, {"pod", "x"}, {"container", "app"}};
    const auto mapping = rules->Match(labels, [](std::string_view, std::string_view) {
      return TopOwner{"daemonset", "fluentd", "large"};
    });
    return mapping->workload.In(mapping->job);
  };
  Workload wanted{.source = Source::kKubernetes,
                  .cell = "eu",
                  .namespace_name = "logging",
                  .kind = "daemonset",
                  .name = "fluentd",
                  .group = "large",
                  .container = "app"};
  EXPECT_EQ(workload("{cluster/}{namespace}/{owner.kind/}{owner}/{container}"), wanted);
  wanted.cell = "";
  EXPECT_EQ(workload("{namespace}/{owner.kind/}{owner}/{container}"), wanted);
  wanted.container = "";
  EXPECT_EQ(workload("{namespace}/{owner.kind/}{owner}"), wanted);
  EXPECT_EQ(workload("x/{namespace}/{owner.kind/}{owner}").kind, "") << "a name of its own";
}

TEST(MappingRules, RefuseWhatCannotWork) {
  const auto why = [](MappingRule rule) {
    rule.name = "mine";
    const absl::StatusOr<MappingRules> rules = MappingRules::Compile({rule});
    EXPECT_EQ(rules.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(Message(rules.status()));
  };
  using enum SeriesKind;
  EXPECT_THAT(why({"", "", {}, kCpuCores, "j", "t", "", 1}), HasSubstr("'mine': no metric"));
  EXPECT_THAT(why({"", "m", {}, kCpuCores, "", "t", "", 1}), HasSubstr("job and task are required"));
  EXPECT_THAT(why({"", "m", {}, kCpuCores, "{a", "t", "", 1}), HasSubstr("job: a '{' without its '}'"));
  EXPECT_THAT(why({"", "m", {}, kCpuCores, "j", "a}", "", 1}), HasSubstr("task: a '}' without its '{'"));
  EXPECT_THAT(why({"", "m", {}, kCpuCores, "j", "t", "{a||b}", 1}), HasSubstr("part: no label in '{a||b}'"));
  EXPECT_THAT(why({"", "m", {}, kCpuCores, "j", "{owner}", "", 1}),
              HasSubstr("{owner} is only allowed in job"));
  EXPECT_THAT(why({"", "m", {}, kCpuCores, "j", "t", "", 0}), HasSubstr("scale"));
  EXPECT_THAT(why({"", "m", {{"", "x"}}, kCpuCores, "j", "t", "", 1}), HasSubstr("match without a label"));
}

TEST(MappingRules, KindsHaveNames) {
  for (int i = 0; i <= static_cast<int>(SeriesKind::kOwner); ++i) {
    const auto kind = static_cast<SeriesKind>(i);
    const absl::StatusOr<SeriesKind> parsed = ParseSeriesKind(Name(kind));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, kind);
  }
  EXPECT_THAT(Message(ParseSeriesKind("cpu").status()), HasSubstr("cpu_cores"));
}

// One Prometheus may scrape two clusters, and a target may have a label `cluster` of its own.
TEST(BuiltinRules, NamesBeginWithTheCluster) {
  const auto job = [](std::vector<LabelView> labels, std::string_view cluster) {
    labels.push_back({"cluster", cluster});
    const std::optional<Mapping> m = MatchOf(labels);
    return m.has_value() ? m->job : "-";
  };
  EXPECT_EQ(job({{"__name__", "container_memory_working_set_bytes"},
                 {"namespace", "shop"},
                 {"pod", "db-0"},
                 {"container", "c"}},
                "north"),
            "north/shop/statefulset/db");
  EXPECT_EQ(job({{"__name__", "process_cpu_seconds_total"}, {"job", "api"}, {"instance", "h:1"}}, "north"),
            "north/api");
  EXPECT_EQ(job({{"__name__", "process_cpu_seconds_total"}, {"job", "api"}, {"instance", "h:1"}}, "shop/job"),
            "shop_job/api");
  OwnerTable owners;
  owners.Learn("north/shop/Pod/db-0", "Rollout/database");
  const std::vector<LabelView> labels = {{"__name__", "container_memory_working_set_bytes"},
                                         {"cluster", "north"},
                                         {"namespace", "shop"},
                                         {"pod", "db-0"},
                                         {"container", "c"}};
  EXPECT_EQ(MatchOf(labels, owners)->job, "north/shop/rollout/database");
  EXPECT_EQ(owners.Find("south/shop", "db-0"), (TopOwner{"statefulset", "db"}));
  // A cluster's name with '/' remains one part of the job's name (a_b), also for facts about the cluster's pods.
  const std::vector<LabelView> fact = {{"__name__", "kube_pod_owner"}, {"cluster", "a/b"},
                                       {"namespace", "shop"},          {"pod", "db-0"},
                                       {"owner_kind", "Rollout"},      {"owner_name", "database"}};
  const std::optional<Mapping> said = MatchOf(fact);
  owners.Learn(said->job, said->task);
  std::vector<LabelView> in_it = labels;
  in_it[1].value = "a/b";
  EXPECT_EQ(MatchOf(in_it, owners)->job, "a_b/shop/rollout/database");
}

TEST(Owners, AreReadFromNames) {
  const auto owner = [](std::string_view pod) {
    const TopOwner top = OwnerFromPodName(pod);
    return top.kind + " " + top.name;
  };
  EXPECT_EQ(owner("web-5d4f8c7b9d-x2x4z"), "deployment web");
  EXPECT_EQ(owner("my-web-app-7d764666f9-bcdfg"), "deployment my-web-app");
  EXPECT_EQ(owner("fluentd-x2x4z"), " fluentd");
  EXPECT_EQ(owner("db-12"), "statefulset db");
  EXPECT_EQ(owner("backup-28394820-x2x4z"), "cronjob backup");
  EXPECT_EQ(owner("web-frontend"), " web-frontend");  // generated suffixes have no vowels
  EXPECT_EQ(owner("etcd-node-a"), " etcd-node-a");
  EXPECT_EQ(owner("plain"), " plain");
  EXPECT_EQ(owner("-x2x4z"), " -x2x4z");
  EXPECT_EQ(owner(""), " ");
}

TEST(Owners, RunsOfSparkAndRevisionsOfKnativeAreOneJob) {
  OwnerTable owners;
  const auto owner = [&owners](std::string_view pod) {
    const TopOwner top = owners.Find("data", pod);
    return top.kind + " " + top.name;
  };
  for (const bool has_facts : {false, true}) {
    for (const std::string run : {"etl-8b4c7f8a1b2c3d4e", "etl-0123456789abcdef"}) {
      if (has_facts) {
        owners.Learn("data/Pod/" + run + "-driver", "<none>/<none>");
        owners.Learn("data/Pod/" + run + "-exec-2", "Pod/" + run + "-driver");
      }
      EXPECT_EQ(owner(run + "-driver"), "sparkapplication etl-driver") << has_facts;
      EXPECT_EQ(owner(run + "-exec-2"), "sparkapplication etl-exec") << has_facts;
    }
  }
  // The driver of the Spark operator has the name of its SparkApplication, to which schedules append a
  // number.
  owners.Learn("data/Pod/sum-1732793400000-driver", "SparkApplication/sum-1732793400000");
  owners.Learn("data/Pod/sum-b6d2f39aa1c04d2e-exec-1", "Pod/sum-1732793400000-driver");
  EXPECT_EQ(owner("sum-1732793400000-driver"), "sparkapplication sum-driver");
  EXPECT_EQ(owner("sum-b6d2f39aa1c04d2e-exec-1"), "sparkapplication sum-exec");
  for (const std::string revision : {"hello-00001", "hello-00012"}) {
    const std::string set = revision + "-deployment-5d4f8c7b9d";
    EXPECT_EQ(owner(set + "-x2x4z"), "service hello") << "by its name";
    owners.Learn("data/Pod/" + set + "-x2x4z", "ReplicaSet/" + set);
    owners.Learn("data/ReplicaSet/" + set, "Deployment/" + revision + "-deployment");
    EXPECT_EQ(owner(set + "-x2x4z"), "service hello");
  }
  // These names only look like generated names.
  EXPECT_EQ(owner("bus-driver"), " bus-driver");
  EXPECT_EQ(owner("hello-1-deployment-5d4f8c7b9d-x2x4z"), "deployment hello-1-deployment");
  EXPECT_EQ(owner("job-exec-2"), "statefulset job-exec");
}

TEST(Owners, RolloutsOfADeploymentConfigAreOneJob) {
  OwnerTable owners;
  const auto owner = [&owners](std::string_view pod) {
    const TopOwner top = owners.Find("shop", pod);
    return top.kind + " " + top.name;
  };
  for (const std::string rollout : {"web-1", "web-2"}) {
    owners.Learn("shop/Pod/" + rollout + "-x2x4z", "ReplicationController/" + rollout);
    EXPECT_EQ(owner(rollout + "-x2x4z"), "deploymentconfig web") << "by its name";
  }
  const std::optional<Mapping> said = MatchOf({{"__name__", "kube_replicationcontroller_owner"},
                                               {"namespace", "shop"},
                                               {"replicationcontroller", "web-2"},
                                               {"owner_kind", "DeploymentConfig"},
                                               {"owner_name", "store"},
                                               {"owner_is_controller", "true"}});
  ASSERT_TRUE(said.has_value());
  EXPECT_THAT(owners.Learn(said->job, said->task), ElementsAre("shop/Pod/web-2-x2x4z"));
  EXPECT_EQ(owner("web-2-x2x4z"), "deploymentconfig store");
  owners.Learn("shop/ReplicationController/web-1", "<none>/<none>");
  EXPECT_EQ(owner("web-1-x2x4z"), "replicationcontroller web-1") << "one of no DeploymentConfig";
}

TEST(Owners, FactsCountForMoreThanNames) {
  OwnerTable owners;
  const auto owner = [&owners](std::string_view scope, std::string_view pod) {
    const TopOwner top = owners.Find(scope, pod);
    return top.kind + " " + top.name;
  };
  EXPECT_EQ(owner("shop", "web-5d4f8c7b9d-x2x4z"), "deployment web");
  // A fact that confirms the owner derived from the name changes nothing.
  EXPECT_THAT(owners.Learn("shop/Pod/web-5d4f8c7b9d-x2x4z", "ReplicaSet/web-5d4f8c7b9d"), IsEmpty());
  EXPECT_THAT(owners.Learn("shop/ReplicaSet/web-5d4f8c7b9d", "Deployment/web"), IsEmpty());
  // The ReplicaSet's owner differs from the owner derived from its name: the ReplicaSet's pods are returned.
  EXPECT_THAT(owners.Learn("shop/ReplicaSet/web-5d4f8c7b9d", "Rollout/storefront"),
              ElementsAre("shop/Pod/web-5d4f8c7b9d-x2x4z"));
  EXPECT_EQ(owner("shop", "web-5d4f8c7b9d-x2x4z"), "rollout storefront");
  EXPECT_EQ(owner("other", "web-5d4f8c7b9d-x2x4z"), "deployment web");
  EXPECT_THAT(owners.Learn("shop/Pod/lone-12", "<none>/<none>"), ElementsAre("shop/Pod/lone-12"));
  EXPECT_EQ(owner("shop", "lone-12"), "pod lone-12");
  owners.Learn("kube-system/Pod/etcd-node-a", "Node/node-a");
  EXPECT_EQ(owner("kube-system", "etcd-node-a"), "pod etcd");
  owners.Learn("shop/Pod/agent-x2x4z", "DaemonSet/agent");
  EXPECT_EQ(owner("shop", "agent-x2x4z"), "daemonset agent");
  owners.Learn("shop/Pod/once-x2x4z", "Job/once");
  EXPECT_EQ(owner("shop", "once-x2x4z"), "job once");
  // By its name, the owner is a Deployment: a fact with another kind changes the owner.
  EXPECT_THAT(owners.Learn("shop/Pod/web2-5d4f8c7b9d-x2x4z", "ReplicaSet/web2"),
              ElementsAre("shop/Pod/web2-5d4f8c7b9d-x2x4z"));
  EXPECT_EQ(owner("shop", "web2-5d4f8c7b9d-x2x4z"), "replicaset web2");
  owners.Learn("shop/Pod/backup-28394820-x2x4z", "Job/backup-28394820");
  EXPECT_EQ(owner("shop", "backup-28394820-x2x4z"), "cronjob backup");
  owners.Forget("shop/Pod/lone-12");
  EXPECT_EQ(owner("shop", "lone-12"), "statefulset lone");
}

TEST(Owners, APodHasTheGroupThatItsSourceReported) {
  OwnerTable table;
  const TopOwner grouped{"daemonset", "fluentd", "large"}, plain{"daemonset", "fluentd"};
  EXPECT_EQ(table.Learn("shop/Pod/fluentd-x2x4z", "DaemonSet/fluentd", "large").size(), 1U);
  EXPECT_EQ(table.Find("shop", "fluentd-x2x4z"), grouped);
  EXPECT_TRUE(table.Learn("shop/Pod/fluentd-x2x4z", "DaemonSet/fluentd").empty())
      << "it does not know of groups";
  EXPECT_EQ(table.Find("shop", "fluentd-x2x4z"), grouped);
  EXPECT_EQ(table.Learn("shop/Pod/fluentd-x2x4z", "DaemonSet/fluentd", "").size(), 1U);
  EXPECT_EQ(table.Find("shop", "fluentd-x2x4z"), plain);
  EXPECT_EQ(table.Learn("shop/Pod/fluentd-x2x4z", "DaemonSet/fluentd", "large").size(), 1U);
  EXPECT_EQ(table.Learn("shop/Pod/fluentd-x2x4z", "DaemonSet/flu").size(), 1U) << "another owner";
  EXPECT_EQ(table.Find("shop", "fluentd-x2x4z"), (TopOwner{"daemonset", "flu"}));
  table.Learn("shop/Pod/fluentd-x2x4z", "DaemonSet/fluentd", "large");
  table.Forget("shop/Pod/fluentd-x2x4z");
  EXPECT_EQ(table.Find("shop", "fluentd-x2x4z").group, "");
}

TEST(Owners, AnImpossibleOwnerIsNone) {
  OwnerTable table;
  table.Learn("shop/Pod/web-0", "StatefulSet/../../act1/deployment/over");
  EXPECT_EQ(table.Find("shop", "web-0"), (TopOwner{"pod", "web-0"}));
  table.Learn("shop/Pod/web-0", "StatefulSet/..");
  EXPECT_EQ(table.Find("shop", "web-0"), (TopOwner{"pod", "web-0"}));
  table.Learn("shop/Pod/web-0", "StatefulSet/web");
  EXPECT_EQ(table.Find("shop", "web-0"), (TopOwner{"statefulset", "web"}));
  EXPECT_FALSE(IsProgramName(".."));
}

TEST(Owners, RunsNamesAreTakenApart) {
  for (const char* run :
       {"import-x2x4z", "import-20261125", "import-20261125-1200", "import-20261125-120000",
        "import-1764072000", "import-20261125t120000z", "import-20261125t1200", "import-3f9c2ab",
        "import-x2x4z-20261125", "import-3f9c2ab81d0c4e5f60718293a4b5c6d7e8f90123-x2x4z",
        "import-123e4567-e89b-12d3-a456-426614174000"}) {
    EXPECT_EQ(WithoutRunSuffix(run), "import") << run;
  }
  // Words, versions and short numbers may distinguish programs.
  for (const char* name : {"import", "import-2", "import-v12", "import-123456", "import-deadbeef",
                           "import-frontend", "import-1200", "import-2026", "-x2x4z", "20261125", "",
                           "import-", "123e4567-e89b-12d3-a456-42661417400g"}) {
    EXPECT_EQ(WithoutRunSuffix(name), name) << name;
  }
  EXPECT_EQ(WithoutRunSuffix("20261125-1200"), "20261125-1200") << "nothing would be left of it";
}

TEST(Owners, RunsOfAProgramAreOne) {
  OwnerTable owners;
  const auto owner = [&owners](std::string_view pod) {
    const TopOwner top = owners.Find("shop", pod);
    return top.kind + " " + top.name;
  };
  owners.Learn("shop/Pod/import-x2x4z-bbbbb", "Job/import-x2x4z");
  owners.Learn("shop/Job/import-x2x4z", "<none>/<none>");
  EXPECT_EQ(owner("import-x2x4z-bbbbb"), "job import");
  owners.Learn("shop/Pod/import-20261125-ccccc", "Job/import-20261125");
  owners.Learn("shop/Job/import-20261125", "<none>/<none>");
  EXPECT_EQ(owner("import-20261125-ccccc"), "job import");
  // The Job's program takes precedence over the run's name, and the pod's program over both.
  const std::string key = OwnerTable::ProgramKey("shop/Job/import-x2x4z");
  EXPECT_THAT(owners.Learn(key, "Program/nightly"), ElementsAre("shop/Pod/import-x2x4z-bbbbb"));
  EXPECT_EQ(owner("import-x2x4z-bbbbb"), "job nightly");
  const std::string of_pod = OwnerTable::ProgramKey("shop/Pod/import-x2x4z-bbbbb");
  EXPECT_THAT(owners.Learn(of_pod, "Program/load"), ElementsAre("shop/Pod/import-x2x4z-bbbbb"));
  EXPECT_EQ(owner("import-x2x4z-bbbbb"), "job load");
  owners.Forget(of_pod);
  owners.Learn(key, "Program/");
  EXPECT_EQ(owner("import-x2x4z-bbbbb"), "job import");
  // A CronJob's Jobs still belong to the CronJob, and an object that is not a run keeps its name.
  owners.Learn("shop/Job/import-x2x4z", "CronJob/every-night");
  owners.Learn(of_pod, "Program/load");
  EXPECT_EQ(owner("import-x2x4z-bbbbb"), "cronjob every-night");
  owners.Learn("shop/Pod/db-0", "StatefulSet/db-20261125");
  owners.Learn(OwnerTable::ProgramKey("shop/Pod/db-0"), "Program/load");
  EXPECT_EQ(owner("db-0"), "statefulset db-20261125");
  // A pod without an owner belongs to the program that it names; without a program, the pod is its own owner.
  owners.Learn("shop/Pod/ci-x2x4z", "<none>/<none>");
  EXPECT_EQ(owner("ci-x2x4z"), "pod ci-x2x4z");
  owners.Learn(OwnerTable::ProgramKey("shop/Pod/ci-x2x4z"), "Program/ci");
  EXPECT_EQ(owner("ci-x2x4z"), "pod ci");
  EXPECT_EQ(owners.TopOfNew("shop", "Job", "import-9kdlw", "", ""), (TopOwner{"job", "import"}));
  EXPECT_EQ(owners.TopOfNew("shop", "Job", "import-9kdlw", "", "load"), (TopOwner{"job", "load"}));
}

TEST(Owners, StepsOfWorkflowsDiffer) {
  OwnerTable owners;
  const auto owner = [&owners](std::string_view pod, std::string_view its_owner) {
    owners.Learn(std::string("shop/Pod/").append(pod), its_owner);
    const TopOwner top = owners.Find("shop", pod);
    return top.kind + " " + top.name;
  };
  EXPECT_EQ(owner("import-x2x4z-load-1234567890", "Workflow/import-x2x4z"), "workflow import-load");
  EXPECT_EQ(owner("import-9kdlw-load-987", "Workflow/import-9kdlw"), "workflow import-load");
  EXPECT_EQ(owner("import-9kdlw-check-all-987", "Workflow/import-9kdlw"), "workflow import-check-all");
  EXPECT_EQ(owner("import-9kdlw", "Workflow/import-9kdlw"), "workflow import") << "of a single step";
  EXPECT_EQ(owner("import-9kdlw-1234", "Workflow/import-9kdlw"), "workflow import")
      << "as older versions name pods";
  EXPECT_EQ(owner("nightly-1764072000", "Workflow/nightly-1764072000"), "workflow nightly");
  EXPECT_EQ(owner("build-x2x4z-test-pod", "TaskRun/build-x2x4z"), "taskrun build");
}

TEST(Owners, CirclesAndNonsenseEnd) {
  OwnerTable owners;
  owners.Learn("shop/Job/a", "Job/b");
  owners.Learn("shop/Job/b", "Job/a");
  owners.Learn("shop/Pod/p", "Job/a");
  EXPECT_THAT(owners.Find("shop", "p").name, ::testing::AnyOf("a", "b"));
  EXPECT_THAT(owners.Learn("nonsense", "x"), IsEmpty());
  owners.Learn("shop/Pod/q", "bare");
  EXPECT_EQ(owners.Find("shop", "q").name, "bare");
}

}  // namespace
}  // namespace taut::server
