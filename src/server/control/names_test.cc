// Tests names and labels of jobs, and the tasks of containers, through the whole control plane.
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/control/control_plane.h"
#include "server/control/set_one_fixture.h"
#include "server/store/in_memory_store.h"

namespace taut::server {
namespace {

using Labels = std::vector<LabelView>;

constexpr int64_t kMidnight = 1'700'006'400;  // a midnight
const std::string kContainer(64, 'c');

class NamedCell {
 public:
  NamedCell() { Start(); }
  void Restart() {
    control_.reset();
    Start();
  }
  static Timestamp At(int minute) { return Timestamp::FromSeconds(kMidnight + 60 * minute); }
  // Sends one sample of each series in each of these minutes, with a tick after each minute.
  void Series(int from, int to, const std::vector<std::pair<Labels, double>>& all) {
    for (int minute = from; minute < to; ++minute) {
      for (const auto& [labels, value] : all) {
        const RemoteSample sample{value, At(minute).us / 1000};
        control_->ingest().samples.Take(labels, {&sample, 1}, At(minute));
      }
      ASSERT_TRUE(control_->Tick(At(minute)).ok());
    }
  }
  // Reports a window of the agent's task that began at this minute.
  void Window(int minute, double bytes, double owner_bytes) {
    ReportedWindow w;
    w.window = WindowId::Of(At(minute));
    w.figures = {.memory_mean_bytes = static_cast<float>(bytes),
                 .memory_peak_bytes = static_cast<float>(bytes)};
    w.memory_limit_bytes = static_cast<float>(owner_bytes);
    ASSERT_TRUE(
        control_->agents().TakeWindow({"docker/shop/web", "h/shop-web-1", {}}, w, At(minute + 5)).ok());
  }
  ControlPlane& control() { return *control_; }
  std::vector<std::string> Jobs() {
    std::vector<std::string> names;
    for (const auto view = control_->view(); const JobView& job : view->jobs)
      names.push_back(job.record->name);
    return names;
  }
  const JobView* Job(const std::string& name) {
    view_ = control_->view();
    const std::optional<JobId> id = control_->Find(name);
    return id.has_value() ? view_->Find(*id) : nullptr;
  }

 private:
  void Start() {
    ControlOptions options;
    options.live.rules = *brain::PolicyRules::Compile(
        {{.name = "reds", .match = {{"team", "red"}}, .set = {{"mode", "off"}}}}, brain::JobPolicy());
    control_ =
        std::make_unique<ControlPlane>(options, *MappingRules::Compile(BuiltinRules()),
                                       ControlPlane::Parts{&store_, &store_, &actuator_, [] { return 0.0; }});
    ASSERT_TRUE(control_->Restore().ok());
  }
  InMemoryStore store_;
  DryRunActuator actuator_;
  std::shared_ptr<const FleetView> view_;
  std::unique_ptr<ControlPlane> control_;
};

Labels Memory(std::string_view pod) {
  return {{"__name__", "container_memory_working_set_bytes"},
          {"container", "app"},
          {"namespace", "shop"},
          {"pod", pod}};
}
Labels PodLabels(std::string_view pod, std::string_view team) {
  return {{"__name__", "kube_pod_labels"}, {"label_team", team}, {"namespace", "shop"}, {"pod", pod}};
}

TEST(Names, RulesHoldForLabelsOfPodsAlsoWhenTheyComeLateOrChange) {
  NamedCell cell;
  const Labels pod = Memory("db-0");
  cell.Series(0, 15, {{pod, 1e9}});
  ASSERT_NE(cell.Job("shop/statefulset/db"), nullptr);
  EXPECT_EQ(cell.Job("shop/statefulset/db")->mode, Mode::kObserve);
  cell.Series(15, 30, {{pod, 1e9}, {PodLabels("db-0", "red"), 1}});
  EXPECT_EQ(cell.Job("shop/statefulset/db")->mode, Mode::kOff);
  cell.Restart();
  cell.Series(30, 45, {{pod, 1e9}});
  EXPECT_EQ(cell.Job("shop/statefulset/db")->mode, Mode::kOff) << "labels are stored";
  cell.Series(45, 60, {{pod, 1e9}, {PodLabels("db-0", "blue"), 1}});
  EXPECT_EQ(cell.Job("shop/statefulset/db")->mode, Mode::kObserve);
}

TEST(Names, AContainerSeenByAnAgentAndByCadvisorIsOneTaskWithItsOwnersLimit) {
  NamedCell cell;
  const std::string id = "/docker/" + kContainer;
  const auto series = [&](std::string_view metric) {
    return Labels{{"__name__", metric}, {"id", id}, {"instance", "h:8080"}, {"name", "shop-web-1"}};
  };
  const std::vector<std::pair<Labels, double>> cadvisor = {
      {series("container_memory_working_set_bytes"), 3e8},
      {series("container_spec_memory_limit_bytes"), 4e8}};
  const NamedTask task{"docker/shop/web", "h/shop-web-1", {}, kContainer};
  ASSERT_TRUE(cell.control().agents().Announce(task, cell.At(0)).has_value());
  for (int minute = 0; minute < 30; minute += 5) {
    cell.Series(minute, minute + 5, cadvisor);
    cell.Window(minute, 3e8, 1e9);
  }
  cell.Series(30, 32, cadvisor);
  EXPECT_THAT(cell.Jobs(), testing::ElementsAre("docker/shop/web"));
  const JobView* job = cell.Job("docker/shop/web");
  EXPECT_EQ(job->tasks, 1U);
  EXPECT_FLOAT_EQ(job->of(Resource::kMemory).owner_limit, 1e9F) << "not the limit that Tautline set";
  EXPECT_EQ(cell.control().ingest().counts.mapper().name_collisions, 0U);
  // The agent is disconnected: the series continue, and their limit is ignored.
  cell.Series(32, 60, cadvisor);
  job = cell.Job("docker/shop/web");
  EXPECT_EQ(job->tasks, 1U);
  const float limit = job->of(Resource::kMemory).owner_limit;
  EXPECT_TRUE(limit < 0 || limit > 0.99e9F) << limit;
}

TEST(Names, TheOwnersAmountIsTheRequestWhereTheRecommendationIs) {
  NamedCell cell;
  const auto resources = [](const char* metric) {
    return Labels{{"__name__", metric},
                  {"container", "app"},
                  {"namespace", "shop"},
                  {"pod", "db-0"},
                  {"resource", "memory"}};
  };
  const auto owners = [&] { return cell.Job("shop/statefulset/db")->of(Resource::kMemory).owner_limit; };
  const std::pair<Labels, double> usage = {Memory("db-0"), 1e8};
  const std::pair<Labels, double> request = {resources("kube_pod_container_resource_requests"), 2e8};
  const std::pair<Labels, double> limit = {resources("kube_pod_container_resource_limits"), 4e8};
  cell.Series(0, 15, {usage, request});
  EXPECT_FLOAT_EQ(owners(), 2e8F) << "there is no limit";
  cell.Series(15, 30, {usage, request, limit});
  EXPECT_FLOAT_EQ(owners(), 4e8F);
  const JobId id = *cell.control().Find("shop/statefulset/db");
  ASSERT_TRUE(SetOne(cell.control(), id, "memory.applies_to", "request_only", "test").ok());
  cell.Series(30, 45, {usage, request, limit});
  EXPECT_FLOAT_EQ(owners(), 2e8F);
  EXPECT_THAT(
      SetOne(cell.control(), id, "memory.request_share", "0.8", "test").status().message(),
      testing::HasSubstr("memory.request_share does nothing where memory.applies_to is request_only"));
  cell.Restart();
  cell.Series(45, 60, {usage, request, limit});
  EXPECT_FLOAT_EQ(owners(), 2e8F);
}

TEST(Names, KubeStateMetricsSaysHowManyTasksAWorkloadHas) {
  NamedCell cell;
  const std::string web = "shop/deployment/web";
  const std::pair<Labels, double> usage = {{{"__name__", "container_cpu_usage_seconds_total"},
                                            {"container", "app"},
                                            {"namespace", "shop"},
                                            {"pod", "web-5d4f8c7b9d-x2x4z"}},
                                           100};
  const auto said = [](std::string_view deployment, double count) {
    return std::pair<Labels, double>{
        {{"__name__", "kube_deployment_status_replicas"}, {"deployment", deployment}, {"namespace", "shop"}},
        count};
  };
  const auto running = [&] {
    int tasks = -1;
    cell.control().WithFleet([&](const brain::LiveFleet& fleet) {
      tasks = fleet.job(*cell.control().Find(web)).replicas->figures().running;
    });
    return tasks;
  };
  cell.Series(0, 15, {usage, said("web", 4), said("other", 2)});
  EXPECT_THAT(cell.Jobs(), testing::ElementsAre(web)) << "a number alone makes no job";
  ASSERT_TRUE(SetOne(cell.control(), *cell.control().Find(web), "replicas.policy", "hpa", "test").ok());
  cell.Series(15, 30, {usage, said("web", 4)});
  EXPECT_EQ(running(), 4);
  cell.Restart();
  cell.Series(30, 45, {usage, said("web", 5)});
  EXPECT_EQ(running(), 5);
  cell.Series(45, 60, {usage});
  EXPECT_EQ(running(), 1) << "the series is silent: what is measured counts";
}

TEST(Names, ANameThatWasOnlyGuessedIsForgottenSoon) {
  NamedCell cell;
  const Labels pod = Memory("agent-x2x4z");
  cell.Series(0, 1, {{pod, 1e9}});
  const Labels owner = {{"__name__", "kube_pod_owner"},  {"namespace", "shop"},
                        {"owner_is_controller", "true"}, {"owner_kind", "DaemonSet"},
                        {"owner_name", "agent"},         {"pod", "agent-x2x4z"}};
  cell.Series(1, 10, {{owner, 1}, {pod, 1e9}});
  EXPECT_THAT(cell.Jobs(), testing::ElementsAre("shop/agent", "shop/daemonset/agent"));
  cell.Series(10, 260, {{owner, 1}, {pod, 1e9}});
  EXPECT_THAT(cell.Jobs(), testing::ElementsAre("shop/daemonset/agent"));
}

}  // namespace
}  // namespace taut::server
