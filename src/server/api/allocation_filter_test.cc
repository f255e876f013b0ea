// Tests filters of allocations, durations, and idle capacity.
#include "server/api/allocation_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/allocation_idle.h"
#include "server/api/allocation_window.h"
#include "server/pool/capacity_lines.h"

namespace taut::server {
namespace {

// Returns true if the filter selects the job shop/web of team "a".
bool SelectsWeb(std::string_view filter) {
  const absl::StatusOr<JobFilter> parsed = ParseAllocationFilter(filter);
  EXPECT_TRUE(parsed.ok()) << filter << parsed.status();
  return parsed.ok() && (*parsed)({JobId{0}, "shop/web", {{"namespace", "shop"}, {"team", "a"}}, 0});
}

TEST(AllocationFilter, ComparesALabelInEachWay) {
  for (const char* yes :
       {R"(namespace:"shop")", R"(namespace:"web","shop")", R"(namespace!:"web")", R"(namespace~:"ho")",
        R"(namespace!~:"x")", R"(namespace<~:"sh")", R"(namespace!<~:"op")", R"(namespace~>:"op")",
        R"(namespace!~>:"sh")", R"(label[team]:"a")", R"(  namespace : "shop" )", R"(cluster:"")",
        R"(label[none]!:"x")", R"(namespace~:"")"})
    EXPECT_TRUE(SelectsWeb(yes)) << yes;
  for (const char* no :
       {R"(namespace:"web")", R"(namespace:"SHOP")", R"(namespace!:"web","shop")", R"(namespace~:"x")",
        R"(namespace!~:"ho")", R"(namespace<~:"op")", R"(namespace!<~:"sh")", R"(namespace~>:"sh")",
        R"(label[team]:"")", R"(label[Team]:"a")", R"(cluster:"west")", R"(controllerKind:"deployment")"})
    EXPECT_FALSE(SelectsWeb(no)) << no;
}

TEST(AllocationFilter, AControllerIsAPieceOfTheName) {
  EXPECT_TRUE(SelectsWeb(R"(controllerName:"web")"));
  EXPECT_TRUE(SelectsWeb(R"(controllerName:"shop/web")"));
  EXPECT_FALSE(SelectsWeb(R"(controllerName:"we")"));
  EXPECT_FALSE(SelectsWeb(R"(controllerName!:"web")"));
}

TEST(AllocationFilter, AndAndOrAreGroupedByParentheses) {
  EXPECT_TRUE(SelectsWeb(R"(namespace:"shop"+label[team]:"a")"));
  EXPECT_FALSE(SelectsWeb(R"(namespace:"shop"+label[team]:"b")"));
  EXPECT_TRUE(SelectsWeb(R"(namespace:"x"|label[team]:"a"|cluster:"z")"));
  EXPECT_FALSE(SelectsWeb(R"((namespace:"x"|label[team]:"a")+cluster:"z")"));
  EXPECT_TRUE(SelectsWeb(R"(((namespace:"x"))|((label[team]:"a")))"));
  EXPECT_TRUE(SelectsWeb(std::string(20, '(') + R"(namespace:"shop")" + std::string(20, ')')));
}

TEST(AllocationFilter, WhatIsNoFilterIsRefusedWithItsPlace) {
  const std::string deep = std::string(100'000, '(') + R"(namespace:"shop")" + std::string(100'000, ')');
  for (const std::string& wrong :
       {std::string(), deep, std::string("namespace"), std::string(R"(namespace="shop")"),
        std::string(R"(namespace:"shop)"), std::string(R"(namespace:"shop",)"),
        std::string(R"(namespace:"shop"+)"), std::string(R"((namespace:"shop")"),
        std::string(R"(namespace:"shop"))"), std::string(R"(label[]:"a")"), std::string(R"(label[team:"a")"),
        std::string(R"(pod:"x")"), std::string(R"(namespace:"a"+cluster:"b"|cluster:"c")"),
        std::string("\x1b[2J")}) {
    const absl::Status s = ParseAllocationFilter(wrong).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << wrong.substr(0, 80);
    EXPECT_THAT(std::string(s.message()), testing::HasSubstr("at character ")) << wrong.substr(0, 80);
    EXPECT_LT(s.message().size(), 400U);
    EXPECT_THAT(std::string(s.message()), testing::Not(testing::HasSubstr("\x1b")));
  }
}

TEST(AllocationFilter, ParametersOfARequestMustAllHold) {
  const auto selects = [](std::vector<QueryParameter> query) {
    HttpRequest request;
    request.query = std::move(query);
    const absl::StatusOr<JobFilter> filter = AllocationFilterOf(request);
    EXPECT_TRUE(filter.ok()) << filter.status();
    return (*filter)({JobId{0}, "shop/web", {{"namespace", "shop"}, {"team", "a"}}, 0});
  };
  EXPECT_FALSE(AllocationFilterOf(HttpRequest()).value()) << "no filter selects all";
  EXPECT_TRUE(selects({{"filterNamespaces", " x , shop "}}));
  EXPECT_FALSE(selects({{"filterNamespaces", "x"}}));
  EXPECT_TRUE(selects({{"filterLabels", "team:a"}, {"filterControllers", "web,db"}}));
  EXPECT_FALSE(selects({{"filterLabels", "team:a,team:b"}})) << "each must hold";
  EXPECT_FALSE(selects({{"filterNamespaces", "shop"}, {"filter", R"(namespace:"x")"}}));
  EXPECT_FALSE(selects({{"filterClusters", "west"}}));
  for (const char* wrong : {"team", ":a", "a:b,c"}) {
    HttpRequest request;
    request.query = {{"filterLabels", wrong}};
    EXPECT_EQ(AllocationFilterOf(request).status().code(), absl::StatusCode::kInvalidArgument) << wrong;
  }
}

TEST(AllocationDuration, HasAUnitAndIsPositive) {
  EXPECT_EQ(AllocationDuration("step", "1s").value(), 1);
  EXPECT_EQ(AllocationDuration("step", "30m").value(), 1800);
  EXPECT_EQ(AllocationDuration("step", "12h").value(), 43'200);
  EXPECT_EQ(AllocationDuration("step", "7d").value(), 604'800);
  for (const char* wrong :
       {"", "s", "5", "0h", "-1h", "1.5h", "1w", "1H", "1 h", "NaNs", "1000000001s", "1000000000d"})
    EXPECT_EQ(AllocationDuration("step", wrong).status().code(), absl::StatusCode::kInvalidArgument) << wrong;
}

// Three hours of 10 cores; the first hour is before the span. Memory is unknown.
TEST(IdleCapacityTest, IsWhatNoJobIsChargedAndAbsentWhereNothingIsKnown) {
  CapacityHistory history;
  history.time_s = {0, 3600, 7200};
  for (auto& line : history.lines[kCpuIndex]) line = {std::nullopt, std::nullopt, std::nullopt};
  for (auto& line : history.lines[kMemoryIndex]) line = {std::nullopt, std::nullopt, std::nullopt};
  AccountEntry charged;
  charged.of[kCpuIndex].billed = 4ULL * 1000 * 3600;
  EXPECT_FALSE(IdleCapacity(history).Of(3600, 10'800, charged).has_value());
  history.lines[kCpuIndex][static_cast<size_t>(CapacityLine::kCapacity)] = {10, 10, 10};
  history.lines[kCpuIndex][static_cast<size_t>(CapacityLine::kUsage)] = {1, 1, 1};
  const IdleCapacity idle(history);
  const auto two_hours = idle.Of(3600, 10'800, charged);
  ASSERT_TRUE(two_hours.has_value());
  EXPECT_EQ(two_hours->of[kCpuIndex].billed, 16ULL * 1000 * 3600);
  EXPECT_EQ(two_hours->of[kMemoryIndex].billed, 0U);
  charged.of[kCpuIndex].billed = 100ULL * 1000 * 3600;
  EXPECT_EQ(idle.Of(3600, 10'800, charged)->of[kCpuIndex].billed, 0U) << "never below 0";
}

}  // namespace
}  // namespace taut::server
