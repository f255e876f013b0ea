#include "server/api/json.h"

#include <gtest/gtest.h>

#include "common/base/strings.h"

namespace taut::server {
namespace {

std::string Time(int64_t time_s) {
  JsonWriter json;
  json.BeginObject();
  PutTime("t", time_s, json);
  json.EndObject();
  return json.Take();
}

TEST(ApiJson, ATimeThatIsNoneIsNull) {
  EXPECT_EQ(Time(1'700'006'400), R"({"t":1700006400})");
  EXPECT_EQ(Time(0), R"({"t":0})");
  EXPECT_EQ(Time(INT64_MIN), R"({"t":null})");
  EXPECT_EQ(Time(INT64_MAX), R"({"t":null})");
  EXPECT_EQ(Time(Timestamp{INT64_MIN + 1}.seconds()), R"({"t":null})");
  EXPECT_EQ(Time(Timestamp{INT64_MAX}.seconds()), R"({"t":null})");
}

TEST(ApiJson, TheFleetsHistoryIsNullWhereNothingWasMeasured) {
  FleetPoint point;
  point.amounts[0] = {.usage = 2, .jobs = 3};  // there is no known owner's limit
  point.amounts[1] = {
      .usage = 0, .owner_limit = 8, .in_force = 8, .would_be = 4, .jobs = 1, .jobs_limited = 1};
  JsonWriter json;
  PutFleetHistory({&point, 1}, json);
  const std::string text = json.Take();
  EXPECT_NE(text.find(R"("cpu":{"usage":[2],"owner_limit":[null],"limit":[null],"would_be":[null]})"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("memory":{"usage":[0],"owner_limit":[8],"limit":[8],"would_be":[4]})"),
            std::string::npos)
      << text;
}

TEST(ApiJson, ADecisionHasTheWorkloadOfItsJob) {
  const auto text = [](const JobRecord& job) {
    JsonWriter json;
    json.BeginObject();
    Decision decision;
    decision.job = job.id;
    PutDecisionFields(decision, job, json);
    json.EndObject();
    return json.Take();
  };
  const Workload workload{.source = Source::kKubernetes,
                          .namespace_name = "logging",
                          .kind = "daemonset",
                          .name = "fluentd",
                          .group = "large",
                          .container = "app"};
  const std::string split = text({JobId{1}, workload.JobName(), {}, 0, WorkloadParts::Of(workload)});
  EXPECT_NE(split.find(R"("job":"logging/daemonset/fluentd@large/app","workload":{"source":"kubernetes",)"
                       R"("cluster":null,"namespace":"logging","kind":"daemonset","name":"fluentd",)"
                       R"("group":"large","container":"app"},)"),
            std::string::npos)
      << split;
  const std::string named = text({JobId{2}, "shop/deployment/web", {}, 0, WorkloadParts(Source::kSeries)});
  EXPECT_NE(named.find(R"("job":"shop/deployment/web","workload":null,)"), std::string::npos) << named;
}

TEST(ApiJson, SavingsAreCountedInMachinesWhoseSizeIsKnown) {
  FleetView view;
  for (FleetAmounts& a : view.point.amounts) {
    a.owner_limit = 16;
    a.jobs_limited = 1;
  }
  for (FleetSums& sums : view.sums) sums.saved = 16;
  JsonWriter json;
  PutFleet(view, {.machine = {.of = {8}}, .prices = {}, .actuator = {}}, json);
  const std::string text = json.Take();
  const auto saved = [&](Resource r) {
    const size_t at = text.find("saved_machines", text.find(StrCat("\"", Name(r), "\":")));
    return text.substr(at, text.find(',', at) - at);
  };
  for (const Resource r : kResources)
    EXPECT_EQ(saved(r), StrCat("saved_machines\":", r == Resource::kCpu ? "2" : "null")) << text;
}

// The machine's tasks have no limits, so savings are unknown, not zero.
TEST(ApiJson, WithoutOwnersLimitsAmountsOfLimitsAreAbsent) {
  FleetView view;
  for (FleetAmounts& a : view.point.amounts) {
    a.usage = 3;
    a.jobs = 2;
  }
  JsonWriter json;
  PutFleet(view, {.machine = {.of = {8}}, .prices = {.per_hour = {1, 1}, .currency = "EUR"}, .actuator = {}},
           json);
  const std::string text = json.Take();
  for (const std::string_view key : {"owner_limit", "limit", "would_be", "slack", "saved", "would_save",
                                     "saved_machines", "would_save_machines"})
    EXPECT_NE(text.find(StrCat("\"", key, "\":null")), std::string::npos) << key << text;
  EXPECT_NE(text.find(R"("usage":3)"), std::string::npos) << text;
  EXPECT_EQ(text.find("saving_per_month"), std::string::npos) << "no money of nothing known" << text;
}

}  // namespace
}  // namespace taut::server
