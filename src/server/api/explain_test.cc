// Tests of GET /api/v1/jobs/JOB/explain: the limit in force and the ordered limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "server/api/api_fixture.h"
#include "server/control/set_one_fixture.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

constexpr int kFirst = 1'700'006'400 / kWindowSeconds;

// Returns a window of a job in mode auto. The agent of the job's machine reports this CPU limit, and may set
// limits if `managed`.
ReportedWindow Window(int window, float cpu_limit, bool managed) {
  ReportedWindow w;
  w.window = WindowId{window};
  w.figures.cpu_mean_cores = 0.5F;
  w.figures.cpu_peak_cores = 0.6F;
  w.figures.memory_mean_bytes = w.figures.memory_peak_bytes = 1e8F;
  w.cpu_buckets = {{Grid::Cpu().BucketOf(0.5), 300}};
  w.cpu_limit_cores = 4;
  w.memory_limit_bytes = 4e9F;
  w.report.managed = managed;
  w.report.cpu_limit_cores = cpu_limit;
  return w;
}

struct Case {
  brain::Enforcement enforcement;
  bool managed, enforced;
};

class ApiExplain : public testing::TestWithParam<Case> {
 protected:
  static ControlOptions Options() {
    ControlOptions options;
    brain::JobPolicy defaults;
    defaults.recommender = brain::Policy::kMovingWindow;
    defaults.mode = Mode::kAuto;
    options.live.rules = *brain::PolicyRules::Compile({}, defaults);
    options.live.enforcement = GetParam().enforcement;
    return options;
  }
  ApiExplain() {
    EXPECT_TRUE(control_.Restore().ok());
    for (int w = 0; w < kWindowsPerDay + 12; ++w) {
      const int64_t end = int64_t{kFirst + w + 1} * kWindowSeconds;
      EXPECT_TRUE(control_.agents()
                      .TakeWindow({"web", "t", {}}, Window(kFirst + w, 0.75F, GetParam().managed),
                                  Timestamp::FromSeconds(end))
                      .ok());
      EXPECT_TRUE(control_.Tick(Timestamp::FromSeconds(end + 121)).ok());
    }
  }
  std::string Get(std::string_view what) {
    HttpRequest request = ApiRequest("GET", StrCat("/api/v1/jobs/web", what));
    request.segments = {"api", "v1", "jobs", "web"};
    if (!what.empty()) request.segments.emplace_back("explain");
    return api_.Handle(request).body;
  }

  NoStore store_;
  DryRunActuator actuator_;
  ControlPlane control_{
      Options(), *MappingRules::Compile(BuiltinRules()), {&store_, &store_, &actuator_, [] { return 0.0; }}};
  TestApi api_{control_};
};

TEST_P(ApiExplain, TellsTheAppliedLimitFromTheOrderedOne) {
  std::optional<double> ordered;
  control_.Look(JobId{0}, [&](const brain::LiveJob& job) { ordered = job.of(Resource::kCpu).gate.in_force; });
  ASSERT_TRUE(ordered.has_value());
  ASSERT_GT(std::abs(*ordered - 0.75), 0.1) << "the test needs a limit other than the one in the kernel";
  const std::string limits =
      StrCat(R"("limit":0.75,"ordered":)", *ordered, R"(,"applied":0.75,"owner_limit":4,)");
  EXPECT_THAT(Get("/explain"), HasSubstr(limits));
}

// In a dry run, agents that may set limits set none.
TEST_P(ApiExplain, LimitsAreEnforcedOnlyAsTheDaemonsSettingsSay) {
  const std::string enforced = GetParam().enforced ? R"("enforced":true)" : R"("enforced":false)";
  EXPECT_THAT(Get("/explain"), HasSubstr(enforced));
  EXPECT_THAT(Get(""), HasSubstr(enforced));
  EXPECT_THAT(Get("/explain"),
              HasSubstr(GetParam().enforced ? "are applied automatically" : "this is a dry run"));
  ASSERT_EQ(control_.view()->jobs.size(), 1U);
  EXPECT_EQ(control_.view()->jobs.front().enforced, GetParam().enforced);
}

// The job's agent reports no starts, and no cluster sets its limits.
TEST_P(ApiExplain, SaysWhyTheLimitOfAStartIsNotThere) {
  EXPECT_THAT(Get("/explain"), testing::Not(HasSubstr("cpu.startup_window")));
  ASSERT_TRUE(SetOne(control_, JobId{0}, "cpu.startup_window", "5m", "anna").ok());
  EXPECT_THAT(Get("/explain"), HasSubstr("In the first 5m after its start a task would get"));
  EXPECT_THAT(Get("/explain"), HasSubstr("limits of starts are set in Kubernetes alone"));
  EXPECT_THAT(Get("/explain"), HasSubstr("No series says when its tasks start"));
  EXPECT_THAT(Get(""), HasSubstr("No series says when its tasks start")) << "a notice of the job";
}

INSTANTIATE_TEST_SUITE_P(Each, ApiExplain,
                         testing::Values(Case{brain::Enforcement::kNever, true, false},
                                         Case{brain::Enforcement::kByAgents, true, true},
                                         Case{brain::Enforcement::kByAgents, false, false}));

}  // namespace
}  // namespace taut::server
