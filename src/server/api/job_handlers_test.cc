// Tests the routes for one job: its limits, explanation, history, and what-if.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "server/api/cell_api_fixture.h"

namespace taut::server {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class JobHandlers : public CellApi {
 protected:
  void CloseMany(int windows) {
    for (int w = 0; w < windows; ++w) Close(TwoTeams());
  }
  ApiAnswer WhatIf(std::string body, std::string_view query = "",
                   HttpRequest caller = Caller(Role::kReader)) const {
    return Ask(std::move(caller), "POST", StrCat("/api/v1/jobs/shop%2Fweb/whatif", query), std::move(body));
  }
  static std::vector<double> NumbersIn(JsonNode array) {
    std::vector<double> out;
    for (const JsonNode n : ItemsIn(array)) out.push_back(n.number().value_or(-1));
    return out;
  }
};

TEST_F(JobHandlers, AJobOfItsFirstWindowHasWhatItsSourceSays) {
  Close(TwoTeams());
  const ApiAnswer web = Get("/api/v1/jobs/shop%2Fweb");
  ASSERT_EQ(web.status, 200) << web.body;
  EXPECT_EQ(web["name"].text(), "shop/web");
  EXPECT_EQ(web["tasks"].whole(), 3);
  EXPECT_EQ(web["labels"]["team"].text(), "shop");
  EXPECT_EQ(web["first_seen"].whole(), now_s_ + 121) << "when its first window was closed";
  EXPECT_EQ(web["cpu"]["usage"].number(), 2);
  EXPECT_EQ(web["cpu"]["owner_limit"].number(), 4);
  EXPECT_TRUE(web["memory"]["limit"].is_null());
  for (const std::string_view key :
       {"container", "pod", "replicas", "memory_needed", "workload", "last_change"})
    EXPECT_TRUE(web[key].is_null()) << key;
  EXPECT_THAT(ItemsIn(web["trials"]), IsEmpty());
  EXPECT_THAT(TextsIn(web["holds"], "resource"), ElementsAre("cpu", "memory")) << "each waits for history";
  EXPECT_FALSE(web["price_per_month"]);
  EXPECT_EQ(web["allocation"]["cpu"]["applies_to"].text().has_value(), true);
  ExpectRefused(400, {"/api/v1/jobs/shop%2Fweb?x=1", "/api/v1/jobs/shop%2Fweb/explain?resource=cpu"});
}

TEST_F(JobHandlers, PricesOfAJobAreForThoseWhoMaySeeMoney) {
  prices_ = {{0.04, 0.005}, "EUR"};
  Serve();
  Close(TwoTeams());
  const ApiAnswer web = Get("/api/v1/jobs/shop%2Fweb", In("shop", GroupRole::kBudgetHolder));
  EXPECT_EQ(web["currency"].text(), "EUR");
  ASSERT_TRUE(web["price_per_month"]["cpu"].number().has_value());
  EXPECT_NEAR(*web["price_per_month"]["cpu"].number() / *web["price_per_month"]["memory"].number(), 8, 1e-6);
  EXPECT_TRUE(web["saving_per_month"].is_null());
  const ApiAnswer member = Get("/api/v1/jobs/shop%2Fweb", In("shop", GroupRole::kMember));
  EXPECT_EQ(member.status, 200);
  EXPECT_THAT(member.body, AllOf(Not(HasSubstr("EUR")), Not(HasSubstr("per_month"))));
}

TEST_F(JobHandlers, AnExplanationHasTheSameAmountsAsTheJob) {
  CloseMany(3);
  const ApiAnswer job = Get("/api/v1/jobs/shop%2Fweb"), why = Get("/api/v1/jobs/shop%2Fweb/explain");
  ASSERT_EQ(why.status, 200);
  for (const Resource r : kResources) {
    const JsonNode of = why.tree->root()[Name(r)];
    for (const std::string_view key : {"would_be", "limit", "ordered", "applied", "owner_limit", "chance"})
      EXPECT_EQ(of[key].number(), job[Name(r)][key].number()) << Name(r) << key;
    EXPECT_EQ(of["of"].text(), "limit");
    EXPECT_EQ(of["enforced"].flag(), job["enforced"].flag());
    EXPECT_FALSE(of["paragraph"].text().value_or("").empty());
    EXPECT_TRUE(of["reason"].is_object());
  }
  EXPECT_TRUE(why["replicas"].is_null());
  EXPECT_TRUE(why["memory_needed"].is_null());
}

TEST_F(JobHandlers, UsageIsAHeatmapWhoseColumnsAreWhole) {
  CloseMany(24);
  const ApiAnswer usage = Get("/api/v1/jobs/shop%2Fweb/usage?resource=cpu&columns=4");
  ASSERT_EQ(usage.status, 200) << usage.body;
  EXPECT_EQ(usage["resource"].text(), "cpu");
  EXPECT_EQ(usage["to"].whole(), now_s_);
  EXPECT_EQ(usage["from"].whole(), now_s_ - 7 * kDaySeconds);
  const size_t columns = ItemsIn(usage["time"]).size();
  ASSERT_GE(columns, 1U) << usage.body;
  EXPECT_LE(columns, 4U);
  EXPECT_THAT(NumbersIn(usage["owner_limit"]), AllOf(SizeIs(columns), Each(4.0)));
  std::map<int64_t, double> shares;
  for (const JsonNode cell : ItemsIn(usage["cells"])) {
    const std::vector<double> c = NumbersIn(cell);
    ASSERT_THAT(c, SizeIs(3));
    shares[static_cast<int64_t>(c[0])] += c[2];
    EXPECT_GE(ItemsIn(usage["buckets"])[static_cast<size_t>(c[1])].number(), 2.0)
        << "the bucket holds 2 cores";
  }
  EXPECT_THAT(shares, SizeIs(columns));
  for (const auto& [column, share] : shares) EXPECT_NEAR(share, 1, 0.01) << column;
  const ApiAnswer memory = Get("/api/v1/jobs/shop%2Fweb/usage");
  EXPECT_EQ(memory["resource"].text(), "memory");
  EXPECT_GE(*memory["column_seconds"].whole(), kWindowSeconds);
  for (const JsonNode limit : ItemsIn(memory["limit"])) EXPECT_TRUE(limit.is_null()) << "there is none";
  for (const JsonNode needed : ItemsIn(memory["needed"]))
    EXPECT_TRUE(needed.is_null()) << "nothing was probed";
}

TEST_F(JobHandlers, KillsAreInTheHeatmapOfMemoryAlone) {
  Close(TwoTeams());
  ASSERT_TRUE(control_.agents().TakeOom({"shop/web", "t1", {}}, now(), 1, 4e9, now()).ok());
  Close(TwoTeams());
  EXPECT_THAT(NumbersIn(Get("/api/v1/jobs/shop%2Fweb/usage?resource=memory")["ooms"]), SizeIs(1));
  EXPECT_THAT(NumbersIn(Get("/api/v1/jobs/shop%2Fweb/usage?resource=cpu")["ooms"]), IsEmpty());
  EXPECT_EQ(Get("/api/v1/jobs/shop%2Fweb")["ooms"].whole(), 1);
}

TEST_F(JobHandlers, APastThatIsEmptyHasNoColumns) {
  Close(TwoTeams());
  const ApiAnswer usage = Get("/api/v1/jobs/shop%2Fweb/usage?from=0&to=86400");
  EXPECT_EQ(usage.status, 200);
  for (const std::string_view key : {"time", "cells", "limit", "ooms"})
    EXPECT_THAT(ItemsIn(usage[key]), IsEmpty()) << key;
  const std::string job = "/api/v1/jobs/shop%2Fweb/";
  ExpectRefused(400, {job + "usage?resource=disk", job + "usage?columns=0", job + "usage?columns=2001",
                      job + "usage?from=9&to=8", job + "usage?from=NaN", job + "usage?limit=1",
                      job + "replicas?columns=-1", job + "replicas?from=0&to=34560001",
                      job + "replicas?resource=cpu", job + "replicas?from=1099511627775&to=1099511627776"});
}

TEST_F(JobHandlers, ReplicasOverTimeAreTheTasksThatRan) {
  CloseMany(12);
  const std::string span = StrCat("from=", now_s_ - 12 * kWindowSeconds, "&to=", now_s_.load());
  const ApiAnswer replicas = Get(StrCat("/api/v1/jobs/shop%2Fweb/replicas?columns=6&", span));
  ASSERT_EQ(replicas.status, 200) << replicas.body;
  EXPECT_EQ(replicas["load_of"].text(), "cpu");
  EXPECT_GE(replicas["step"].whole(), 2 * kWindowSeconds);
  const size_t columns = ItemsIn(replicas["time"]).size();
  EXPECT_LE(columns, 7U);
  for (const std::string_view key : {"load", "tasks", "tasks_would_be", "capacity", "forecast_low"})
    EXPECT_THAT(ItemsIn(replicas[key]), SizeIs(columns)) << key;
  std::vector<double> tasks = NumbersIn(replicas["tasks"]);
  std::erase(tasks, -1);
  EXPECT_THAT(tasks, AllOf(Not(IsEmpty()), Each(3.0)));
  EXPECT_EQ(replicas["totals"]["changes"].whole(), 0);
  for (const JsonNode n : ItemsIn(replicas["tasks_would_be"])) EXPECT_TRUE(n.is_null()) << "it has no policy";
}

TEST_F(JobHandlers, WhatIfComparesTwoRecommendersOverTheStoredHistory) {
  CloseMany(kWindowsPerDay + 24);
  const ApiAnswer result = WhatIf(R"({"recommender": "peak", "days": 1})", "?resource=cpu");
  ASSERT_EQ(result.status, 200) << result.body;
  EXPECT_EQ(result["resource"].text(), "cpu");
  EXPECT_EQ(result["oom_kills"].whole(), 0);
  EXPECT_EQ(result["whatif"]["recommender"].text(), "peak");
  EXPECT_EQ(result["now"]["recommender"].text(), Get("/api/v1/jobs/shop%2Fweb")["cpu"]["recommender"].text());
  EXPECT_GT(result["whatif"]["windows"].whole(), 0);
  EXPECT_EQ(result["whatif"]["windows_over"].whole(), 0) << "usage is even";
  EXPECT_EQ(result["milliseconds"].number(), 0) << "the clock of the test stands still";
  ASSERT_TRUE(result["whatif"]["mean_limit"].number().has_value());
  EXPECT_GE(*result["whatif"]["mean_limit"].number(), 2);
  EXPECT_LE(*result["whatif"]["mean_limit"].number(), 4);
  const ApiAnswer bounded = WhatIf(R"({"recommender": "peak", "days": 1, "lower": 7})", "?resource=cpu");
  EXPECT_GE(ItemsIn(bounded["whatif"]["limit"]).back().number(), 7.0);
  EXPECT_EQ(WhatIf("")["resource"].text(), "memory") << "an empty body changes nothing";
  EXPECT_EQ(WhatIf(R"({"days": null, "lower": null})").status, 200);
}

TEST_F(JobHandlers, WhatIfOfAJobWithoutHistoryHasNoMeanLimit) {
  Close(TwoTeams());
  now_s_ += 30 * kDaySeconds;
  const ApiAnswer result = WhatIf(R"({"recommender": "peak"})");
  ASSERT_EQ(result.status, 200) << result.body;
  EXPECT_TRUE(result["whatif"]["mean_limit"].is_null()) << "unknown, not 0";
  EXPECT_TRUE(result["now"]["saved_share"].is_null());
}

TEST_F(JobHandlers, WhatIfRefusesWhatItCannotCompute) {
  Close(TwoTeams());
  for (const char* body : {"[]", "{", "null", "7", R"({"recommender": "krr"})", R"({"recommender": "pick"})",
                           R"({"recommender": 1})", R"({"days": 0})", R"({"days": 61})", R"({"days": "3"})",
                           R"({"days": NaN})", R"({"lower": -1})", R"({"upper": 1e19})", R"({"upper": true})",
                           R"({"colour": 1})", R"({"peak_days": -1})", R"({"": 1})"}) {
    const ApiAnswer answer = WhatIf(body);
    EXPECT_EQ(answer.status, 400) << body << answer.body;
    EXPECT_FALSE(answer["error"].text().value_or("").empty()) << body;
  }
  EXPECT_EQ(WhatIf("{}", "?resource=disk").status, 400);
  EXPECT_EQ(WhatIf("{}", "?days=3").status, 400);
  EXPECT_EQ(Get("/api/v1/jobs/shop%2Fweb/whatif").status, 404) << "only POST";
  EXPECT_EQ(WhatIf("{}", "", In("media", GroupRole::kOwner)).status, 404);
  EXPECT_EQ(WhatIf("{}", "", Caller(Role::kWriter)).status, 403);
}

}  // namespace
}  // namespace taut::server
