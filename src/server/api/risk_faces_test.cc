// Tests that after every window of a month, every interface shows the same risk for a limit, also with replicas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "common/base/random.h"
#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "common/model/units.h"
#include "server/api/api_fixture.h"
#include "server/control/set_one_fixture.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

constexpr int kFirstOfMonth = 1'700'006'400 / kWindowSeconds;
constexpr int kMonth = 30;

// Figures that an interface shows for one limit.
struct SaidRisk {
  std::optional<double> would_be, chance, work_over;
  double days = 0, days_over = 0;
};

SaidRisk RiskSaidBy(JsonNode amounts) {
  const auto number = [&](std::string_view key) { return amounts[key].number(); };
  return {.would_be = number("would_be"),
          .chance = number("chance"),
          .work_over = number("work_over"),
          .days = number("days").value_or(-1),
          .days_over = number("days_over").value_or(-1)};
}

void ExpectSameRisk(const SaidRisk& a, const SaidRisk& b, std::string_view face) {
  EXPECT_EQ(a.would_be, b.would_be) << face;
  EXPECT_EQ(a.chance, b.chance) << face;
  EXPECT_EQ(a.work_over, b.work_over) << face;
  EXPECT_EQ(a.days, b.days) << face;
  EXPECT_EQ(a.days_over, b.days_over) << face;
}

// Stores the decisions of the last window.
class LastDecisions : public NoStore {
 public:
  absl::Status Commit(const PassRecord& pass) override {
    for (const Decision& d : pass.decisions) decisions.push_back(d);
    return NoStore::Commit(pass);
  }
  std::vector<Decision> decisions;
};

struct CellJob {
  const char* name;
  std::vector<std::pair<const char*, const char*>> settings;
};

const CellJob kCellJobs[] = {
    {"watched", {}},
    {"auto", {{"mode", "auto"}}},
    {"canary", {{"mode", "canary"}, {"canary.duration", "1h"}, {"canary.min_task_windows", "6"}}},
    {"scaled", {{"replicas.policy", "hpa"}, {"replicas.hpa.target", "0.7"}}},
    {"sized",
     {{"mode", "auto"},
      {"replicas.policy", "hpa"},
      {"replicas.hpa.target", "0.7"},
      {"replicas.size", "cheapest"}}},
};

class RiskFaces : public testing::Test {
 protected:
  static ControlOptions Options() {
    ControlOptions options;
    brain::JobPolicy defaults;
    defaults.recommender = brain::Policy::kCombined;
    options.live.rules = *brain::PolicyRules::Compile({}, defaults);
    options.live.vertical.analogs.min_rows = 20;
    options.live.vertical.analogs.min_days = 3;
    return options;
  }
  RiskFaces() { EXPECT_TRUE(control_.Restore().ok()); }

  void Measure(int w) {
    const int64_t end = int64_t{kFirstOfMonth + w + 1} * kWindowSeconds;
    const double hour = (w % kWindowsPerDay) / 12.0;
    for (size_t j = 0; j < std::size(kCellJobs); ++j) {
      const double day = 1 + 0.5 * std::sin(hour / 24 * 6.283);
      for (int t = 0; t < 2; ++t) {
        ReportedWindow window;
        window.window = WindowId{kFirstOfMonth + w};
        const double cpu = (0.3 + 0.1 * static_cast<double>(j)) * day * random_.Uniform(0.8, 1.2);
        const double memory =
            (100 + 60 * cpu) * kMiB * random_.Uniform(0.9, 1.1) * (random_.Below(900) == 0 ? 2 : 1);
        window.figures.cpu_mean_cores = static_cast<float>(cpu);
        window.figures.cpu_peak_cores = static_cast<float>(1.1 * cpu);
        window.figures.memory_mean_bytes = static_cast<float>(0.9 * memory);
        window.figures.memory_peak_bytes = static_cast<float>(memory);
        window.cpu_buckets = {{Grid::Cpu().BucketOf(cpu), 300}};
        window.cpu_limit_cores = 4;
        window.memory_limit_bytes = static_cast<float>(kGiB);
        EXPECT_TRUE(
            control_.agents()
                .TakeWindow({kCellJobs[j].name, StrCat("t", t), {}}, window, Timestamp::FromSeconds(end))
                .ok());
      }
    }
    store_.decisions.clear();
    EXPECT_TRUE(control_.Tick(Timestamp::FromSeconds(end + 121)).ok());
  }
  std::string Get(std::string_view job, std::string_view what = "") {
    HttpRequest request =
        ApiRequest("GET", job.empty() ? "/api/v1/jobs" : StrCat("/api/v1/jobs/", job, "/", what));
    request.segments = {"api", "v1", "jobs"};
    if (!job.empty()) request.segments.emplace_back(job);
    if (!what.empty()) request.segments.emplace_back(what);
    return api_.Handle(request).body;
  }
  // Reads the figures by resource from the list of jobs.
  void ReadList() {
    JsonTree list;
    ASSERT_TRUE(list.Parse(Get("")).ok());
    list.root()["jobs"].ForEachItem([&](JsonNode row) {
      for (const Resource r : kResources)
        listed_[{std::string(row.Text("name")), r}] = RiskSaidBy(row[Name(r)]);
    });
  }
  void Compare(const std::string& name) {
    JsonTree job, explained;
    ASSERT_TRUE(job.Parse(Get(name)).ok());
    ASSERT_TRUE(explained.Parse(Get(name, "explain")).ok());
    const std::optional<JobId> id = control_.Find(name);
    ASSERT_TRUE(id.has_value());
    for (const Resource r : kResources) {
      const SaidRisk said = RiskSaidBy(job.root()[Name(r)]);
      ExpectSameRisk(said, listed_[{name, r}], "list");
      const JsonNode lane = explained.root()[Name(r)];
      SaidRisk at_explain = RiskSaidBy(lane);
      // Amounts of jobs are 32-bit floats.
      if (said.would_be.has_value()) {
        EXPECT_FLOAT_EQ(static_cast<float>(*said.would_be),
                        static_cast<float>(at_explain.would_be.value_or(-1)));
      }
      at_explain.would_be = said.would_be;
      ExpectSameRisk(said, at_explain, "explain");
      if (!said.chance.has_value()) continue;
      const JsonNode reason = lane["reason"];
      EXPECT_EQ(reason["chance"].number(), said.chance);
      EXPECT_EQ(reason["days"].number(), said.days);
      EXPECT_EQ(reason["days_over"].number(), said.days_over);
      EXPECT_THAT(
          std::string(*lane["paragraph"].text()),
          AllOf(HasSubstr(StrCat("forecast chance of a day over it is ", FormatChance(*said.chance), " ")),
                HasSubstr(StrCat("of the job's own last ", said.days, ", ", said.days_over, "."))));
      EXPECT_LE(*said.chance, 0.1 + 1e-6) << "no limit is above the bound";
      ++forecasts_;
    }
  }
  // Checks that the figures stored with a decision equal the figures shown for its limit.
  void CompareDecisions() {
    for (const Decision& d : store_.decisions) {
      if (!d.target.is_limit() || d.reason.empty()) continue;
      const absl::StatusOr<Reason> reason = LoadReason(d.reason);
      ASSERT_TRUE(reason.ok());
      EXPECT_EQ(reason->limit, d.after);
      const JobView* view = control_.view()->Find(d.job);
      const JobAmounts& a = view->of(d.target.resource());
      if (a.would_be != static_cast<float>(*d.after) || !reason->chance.has_value()) continue;
      EXPECT_EQ(static_cast<float>(*reason->chance), a.chance);
      EXPECT_EQ(reason->days_over, a.days_over);
      ++stored_;
    }
  }

  LastDecisions store_;
  DryRunActuator actuator_;
  ControlPlane control_{
      Options(), *MappingRules::Compile(BuiltinRules()), {&store_, &store_, &actuator_, [] { return 0.0; }}};
  TestApi api_{control_};
  Rng random_{11};
  std::map<std::pair<std::string, Resource>, SaidRisk> listed_;
  int forecasts_ = 0, stored_ = 0;
};

TEST_F(RiskFaces, AMonthOfACellHasOneRiskForEachLimit) {
  for (int w = 0; w < kMonth * kWindowsPerDay && !HasFailure(); ++w) {
    SCOPED_TRACE(StrCat("window ", w));
    Measure(w);
    if (w == 0) {
      for (const CellJob& job : kCellJobs) {
        for (const auto& [key, value] : job.settings)
          EXPECT_TRUE(SetOne(control_, *control_.Find(job.name), key, value, "anna").ok()) << key;
      }
    }
    ReadList();
    for (const CellJob& job : kCellJobs) {
      SCOPED_TRACE(job.name);
      Compare(job.name);
    }
    CompareDecisions();
  }
  EXPECT_GT(forecasts_, 20 * kWindowsPerDay * static_cast<int>(std::size(kCellJobs)));
  EXPECT_GT(stored_, 10);
}

}  // namespace
}  // namespace taut::server
