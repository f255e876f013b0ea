// Tests of a job's first day: every interface marks the recommendation as provisional, and shows when the first
// final recommendation is due.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "common/model/units.h"
#include "server/api/api_fixture.h"

namespace taut::server {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kFirstDay = 1'700'006'400 / kWindowSeconds;
constexpr int64_t kGrace = 120;

class ApiProvisional : public testing::Test {
 protected:
  static ControlOptions Options() {
    ControlOptions options;
    brain::JobPolicy defaults;
    defaults.mode = Mode::kAuto;
    options.live.rules = *brain::PolicyRules::Compile({}, defaults);
    options.live.enforcement = brain::Enforcement::kAlways;
    return options;
  }
  ApiProvisional() { EXPECT_TRUE(control_.Restore().ok()); }

  static int64_t EndOf(int w) { return int64_t{kFirstDay + w + 1} * kWindowSeconds; }
  void Report(int w) {
    ReportedWindow window;
    window.window = WindowId{kFirstDay + w};
    window.figures.cpu_mean_cores = window.figures.cpu_peak_cores = 0.25F;
    window.figures.memory_mean_bytes = window.figures.memory_peak_bytes = 1e8F;
    window.cpu_buckets = {{Grid::Cpu().BucketOf(0.25), 300}};
    window.cpu_limit_cores = 8;
    window.memory_limit_bytes = 16e9F;
    EXPECT_TRUE(
        control_.agents().TakeWindow({"web", "t", {}}, window, Timestamp::FromSeconds(EndOf(w))).ok());
  }
  void Close(int w) { EXPECT_TRUE(control_.Tick(Timestamp::FromSeconds(EndOf(w) + kGrace + 1)).ok()); }
  std::string Get(std::string_view path) {
    const std::string whole = StrCat("/api/v1/", path);
    HttpRequest request = ApiRequest("GET", whole);
    for (const std::string_view part : Split(std::string_view(whole).substr(1), '/'))
      request.segments.emplace_back(part);
    return api_.Handle(request).body;
  }
  std::unique_ptr<JsonTree> Read(std::string_view path) {
    auto tree = std::make_unique<JsonTree>();
    EXPECT_TRUE(tree->Parse(Get(path)).ok()) << path;
    return tree;
  }

  NoStore store_;
  DryRunActuator actuator_;
  ControlPlane control_{
      Options(), *MappingRules::Compile(BuiltinRules()), {&store_, &store_, &actuator_, [] { return 0.0; }}};
  TestApi api_{control_, {.prices = {{0.03, 0.004}, "EUR"}}};
};

TEST_F(ApiProvisional, AnEmptyDaemonSaysWhenTheFirstWindowCloses) {
  EXPECT_THAT(Get("status"), HasSubstr(R"("first_window_closes":null)"));
  EXPECT_THAT(Get("jobs/web"), HasSubstr("no sample has arrived yet"));
  Report(0);
  EXPECT_THAT(Get("status"), HasSubstr(StrCat(R"("first_window_closes":)", EndOf(0) + kGrace, ",")));
  EXPECT_THAT(Get("jobs/web/explain"), HasSubstr(StrCat("no window has closed yet; the first closes at ",
                                                        FormatTime(EndOf(0) + kGrace), " UTC")));
  Close(0);
  EXPECT_THAT(Get("status"), HasSubstr(R"("first_window_closes":null)"));
  EXPECT_THAT(Get("jobs/web"), HasSubstr(R"("name":"web")"));
}

TEST_F(ApiProvisional, EachLaneIsMarkedUntilItsFirstRecommendation) {
  const int64_t first = EndOf(kWindowsPerDay - 1) + kGrace;
  for (int w = 0; w < kWindowsPerDay - 1; ++w) {
    Report(w);
    Close(w);
    if (w > 2 && w % 40 != 0) continue;
    const auto list = Read("jobs"), job = Read("jobs/web"), explained = Read("jobs/web/explain");
    const auto fleet = Read("fleet");
    JsonNode row = list->root();
    list->root()["jobs"].ForEachItem([&](JsonNode item) { row = item; });
    for (const Resource r : kResources) {
      SCOPED_TRACE(StrCat(w, " ", Name(r)));
      for (const JsonNode amounts : {row[Name(r)], job->root()[Name(r)], explained->root()[Name(r)]}) {
        EXPECT_EQ(amounts["provisional"].flag(), true);
        EXPECT_EQ(amounts["first_recommendation_at"].number(), first);
        EXPECT_FALSE(amounts["would_be"].number().has_value());
        ASSERT_TRUE(amounts["provisional_limit"].number().has_value());
        EXPECT_EQ(amounts["provisional_limit"].number(), row[Name(r)]["provisional_limit"].number());
        EXPECT_GT(*amounts["provisional_limit"].number(), r == Resource::kCpu ? 0.25 : 1e8);
      }
      EXPECT_FALSE(row[Name(r)]["saving"].number().has_value());
      EXPECT_THAT(
          std::string(*explained->root()[Name(r)]["paragraph"].text()),
          AllOf(HasSubstr("Provisionally "), HasSubstr(StrCat("for ", w + 1, " of the 288 windows of a day")),
                HasSubstr(StrCat("The first recommendation is due at ", FormatTime(first), " UTC."))));
      // A provisional recommendation is excluded from savings and is never set.
      EXPECT_EQ(fleet->root()[Name(r)]["would_save"].number(), 0);
      EXPECT_EQ(row[Name(r)]["limit"].number(), row[Name(r)]["owner_limit"].number());
    }
    EXPECT_FALSE(row["saving_per_month"].number().has_value());
  }
  Report(kWindowsPerDay - 1);
  Close(kWindowsPerDay - 1);
  for (const std::string_view path : {"jobs", "jobs/web", "jobs/web/explain"}) {
    EXPECT_THAT(
        Get(path),
        AllOf(HasSubstr(R"("provisional":false,"provisional_limit":null,"first_recommendation_at":null)"),
              Not(HasSubstr(R"("provisional":true)")), Not(HasSubstr("Provisionally"))));
  }
}

}  // namespace
}  // namespace taut::server
