// Tests of status annotations, requests for VPAs and totals of pods, from the recommendations of a control plane.
#include "server/kubernetes/run/workload_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "server/kubernetes/act/status_writer.h"
#include "server/kubernetes/watch/pod_fixture.h"
#include "server/store/in_memory_store.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

const WorkloadName kAdvised{"shop", "deployment", "web", ""};
constexpr std::string_view kAppJob = "shop/deployment/web/app", kLogJob = "shop/deployment/web/log";
constexpr int kHours = 3;  // hours of usage before the first recommendation

class Advice : public testing::Test {
 protected:
  Advice() {
    EXPECT_TRUE(control_.Restore().ok());
    Pod pod = TestPod(kPodA);
    pod.containers.push_back(TestContainer("log"));
    cluster_.pods().Replace({pod});
  }
  static ControlOptions Options() {
    ControlOptions options;
    brain::JobPolicy defaults;
    defaults.mode = Mode::kAuto;
    defaults.recommender = brain::Policy::kMovingWindow;
    options.live.vertical.moving_window.min_history_s = 3600;
    options.live.rules =
        *brain::PolicyRules::Compile({{"off", {{"job", "*/off"}}, {{"mode", "off"}}},
                                      {"looks", {{"job", "*/looks"}}, {{"mode", "observe"}}}},
                                     defaults);
    options.live.enforcement = brain::Enforcement::kAlways;
    return options;
  }
  // Reports usage of half a core and 48 MiB for each job, in this number of windows.
  void Use(const std::vector<std::string_view>& jobs, int windows = kHours * kWindowsPerHour) {
    for (; windows > 0; --windows, ++window_) {
      const Timestamp end = Timestamp::FromSeconds(int64_t{window_ + 1} * kWindowSeconds);
      for (const std::string_view job : jobs) {
        ReportedWindow report;
        report.window = WindowId{window_};
        report.figures.cpu_mean_cores = report.figures.cpu_peak_cores = 0.5F;
        report.figures.memory_mean_bytes = report.figures.memory_peak_bytes = 48 * kMebibyte;
        report.cpu_buckets = {{Grid::Cpu().BucketOf(0.5), 300}};
        EXPECT_TRUE(control_.agents().TakeWindow({job, kPodA, {}}, report, end).ok());
      }
      EXPECT_TRUE(control_.Tick(Timestamp::FromSeconds(end.seconds() + 121)).ok());
    }
  }
  std::vector<std::string> NamesIn(const WorkloadName& workload) const {
    std::vector<std::string> out;
    const auto status = advice_.StatusOf(workload, false);
    if (!status.has_value()) return {"not known"};
    for (const ContainerStatus& container : *status) out.push_back(container.name);
    return out;
  }
  // Adds a pod of another Deployment with these containers.
  WorkloadName PutPodWith(const std::vector<std::string>& containers) {
    Pod pod = TestPod("api-5d4f8c7b9d-aaaaa");
    pod.owner_name = "api-5d4f8c7b9d";
    pod.containers.clear();
    for (const std::string& name : containers) pod.containers.push_back(TestContainer(name));
    cluster_.pods().Put(pod);
    return {"shop", "deployment", "api", ""};
  }

  int window_ = 1'700'006'400 / kWindowSeconds;
  InMemoryStore store_;
  DryRunActuator actuator_;
  ControlPlane control_{
      Options(), *MappingRules::Compile(BuiltinRules()), {&store_, &store_, &actuator_, [] { return 0.0; }}};
  Cluster cluster_{{"", KubernetesJobs::kContainers}};
  FieldOwners owners_;
  WorkloadAdvice advice_{cluster_, owners_, control_, "shop|logging"};
};

TEST_F(Advice, EachContainerHasItsAmountsAsItsPodWouldGetThem) {
  Use({kAppJob, kLogJob});
  const auto status = advice_.StatusOf(kAdvised, false);
  ASSERT_TRUE(status.has_value());
  ASSERT_EQ(status->size(), 2U);
  const ContainerStatus& app = status->front();
  EXPECT_EQ(app.name, "app");
  EXPECT_EQ(app.mode, Mode::kAuto);
  for (const Resource r : kPodResources) {
    const ContainerResources& amounts = app.of(r).amounts;
    ASSERT_TRUE(amounts.limit.has_value()) << Name(r);
    const double limit = *TestContainer().limits.of(r), request = *TestContainer().requests.of(r);
    EXPECT_GT(*amounts.limit, r == Resource::kCpu ? 0.5 : 48 * kMebibyte);
    EXPECT_NEAR(*amounts.request / *amounts.limit, request / limit, 0.01) << "the pod's own share";
    EXPECT_EQ(app.of(r).reason, "");
  }
  EXPECT_NE(advice_.StatusOf(kAdvised, true)->front().memory.reason, "");
}

TEST_F(Advice, ARequestOnWhichAnAutoscalerCountsStays) {
  Use({kAppJob, kLogJob});
  Hpa hpa;
  hpa.namespace_name = "shop";
  hpa.name = "web";
  hpa.target_kind = "Deployment";
  hpa.target_name = "web";
  hpa.metrics = {{Resource::kCpu, ""}};
  owners_.PutHpa(hpa);
  const ContainerStatus app = advice_.StatusOf(kAdvised, false)->front();
  EXPECT_EQ(app.cpu.amounts.request, std::nullopt);
  EXPECT_NE(app.cpu.amounts.limit, std::nullopt);
  EXPECT_NE(app.memory.amounts.request, std::nullopt);
}

TEST_F(Advice, UntilSomethingIsRecommendedTheStatusIsNotKnown) {
  EXPECT_EQ(advice_.StatusOf(kAdvised, false), std::nullopt) << "no job";
  Use({kAppJob, kLogJob}, 2);
  EXPECT_EQ(advice_.StatusOf(kAdvised, false), std::nullopt) << "too little signal";
  Use({kAppJob, kLogJob});
  EXPECT_THAT(NamesIn(kAdvised), ElementsAre("app", "log"));
  EXPECT_THAT(NamesIn({"shop", "deployment", "gone", ""}), ElementsAre("not known")) << "no pods";
}

TEST_F(Advice, AContainerThatIsOffIsLeftOut) {
  const WorkloadName api = PutPodWith({"looks", "off"});
  Use({"shop/deployment/api/looks", "shop/deployment/api/off"});
  const auto status = advice_.StatusOf(api, false);
  ASSERT_TRUE(status.has_value());
  ASSERT_EQ(status->size(), 1U);
  EXPECT_EQ(status->front().name, "looks");
  EXPECT_EQ(status->front().mode, Mode::kObserve);
  EXPECT_EQ(status->front().cpu.state, "") << "it is only shown";
  EXPECT_THAT(advice_.StatusOf(PutPodWith({"off"}), false), Optional(IsEmpty()))
      << "what was recommended before is taken away";
}

TEST_F(Advice, NothingIsRecommendedForOtherNamespaces) {
  EXPECT_THAT(advice_.StatusOf({"kube-system", "deployment", "web", ""}, false), Optional(IsEmpty()));
}

TEST_F(Advice, GroupsOfASplitWorkloadAreApart) {
  OwnedObject db{"shop", "db", "", ""};
  db.split = "ordinal";
  cluster_.splits().Put("StatefulSet", db);
  for (const char* const name : {"db-0", "db-1"}) {
    Pod pod = TestPod(name);
    pod.owner_kind = "StatefulSet";
    pod.owner_name = "db";
    cluster_.pods().Put(pod);
  }
  Use({"shop/statefulset/db@0/app", "shop/statefulset/db@1/app"});
  EXPECT_THAT(NamesIn({"shop", "statefulset", "db", ""}), ElementsAre("app@0", "app@1"));
}

TEST_F(Advice, ThePodsTotalKeepsContainersWithoutARecommendation) {
  const WorkloadName api = PutPodWith({"app", "off"});
  Use({"shop/deployment/api/app", "shop/deployment/api/off"});
  const Workload job = cluster_.naming().IdentityOf(api, "app");
  const std::optional<PodTotals> totals = advice_.PodTotalsOf(job);
  ASSERT_TRUE(totals.has_value());
  EXPECT_EQ(totals->containers, 2U);
  EXPECT_EQ(totals->recommended, 1U);
  const double own = *advice_.StatusOf(api, false)->front().memory.amounts.limit;
  EXPECT_DOUBLE_EQ(*totals->of(Resource::kMemory).limit, own + 64 * kMebibyte);
  EXPECT_EQ(advice_.PodTotalsOf(cluster_.naming().IdentityOf({"shop", "deployment", "gone", ""}, "app")),
            std::nullopt);
}

TEST_F(Advice, AVpaHasTheRequests) {
  Use({kAppJob, kLogJob});
  const WorkloadName app{"shop", "deployment", "web", "app"};
  const Amounts requests = advice_.RequestsOf(app, false);
  const ContainerStatus status = advice_.StatusOf(kAdvised, false)->front();
  EXPECT_NEAR(*requests.cpu, *status.cpu.amounts.request, 0.001) << "of which the pod gets whole millicores";
  EXPECT_NEAR(*requests.memory, *status.memory.amounts.request, 1);
  EXPECT_EQ(advice_.RequestsOf({"shop", "deployment", "web", "gone"}, false), Amounts());
}

// Covers everything from the recommendation to the annotation at the API server and its removal.
TEST_F(Advice, TheAnnotationIsWrittenOnceThereIsARecommendationAndTakenAwayWithIt) {
  double now_s = 1000;
  std::vector<std::string> sent;
  StatusWriter::Options options;
  options.of = [this](const WorkloadName& workload, bool reasons) {
    return advice_.StatusOf(workload, reasons);
  };
  options.send = [&](const std::string& path, const std::string& patch) {
    sent.push_back(StrCat(path, " ", patch));
    return absl::OkStatus();
  };
  options.retry_after_s = [] { return 0.0; };
  options.steady_s = [&now_s] { return now_s; };
  StatusWriter writer(std::move(options));
  const auto after = [&](double seconds) {
    for (const double end = now_s + seconds; now_s < end; now_s += 1) writer.Step([] { return false; });
    return std::exchange(sent, {});
  };
  OwnedObject web{"shop", "web", "", ""};
  web.uid = "u-1";
  writer.Replace("Deployment", {web});
  EXPECT_THAT(after(60), IsEmpty());
  Use({kAppJob, kLogJob});
  EXPECT_THAT(after(60), ElementsAre(AllOf(HasSubstr("/namespaces/shop/deployments/web?"),
                                           HasSubstr("app auto: cpu request "), HasSubstr("log auto: "))));
  web.status = "app auto: cpu limit 1 set";
  Pod off = TestPod(kPodA);
  off.containers = {TestContainer("off")};
  cluster_.pods().Put(off);
  Use({"shop/deployment/web/off"}, 2);
  writer.Put("Deployment", web);
  EXPECT_THAT(after(60), ElementsAre(HasSubstr(R"("tautline.dev/status":null)")));
}

}  // namespace
}  // namespace taut::server
