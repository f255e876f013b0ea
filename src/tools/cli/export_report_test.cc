#include "tools/cli/export_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "tools/cli/export_fixture.h"

namespace taut::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

// Returns a job with two tasks, limits of 2 cores and 2 GiB, and recommendations of half of each limit.
ExportedJob Job(const std::string& name, Json labels) {
  ExportedJob out;
  out.job = Json::parse(R"({"tasks": 2, "saving_per_month": 10.5, "currency": "EUR",
      "price_per_month": {"cpu": 2.5, "memory": 4},
      "cpu": {"owner_limit": 2, "would_be": 1}, "memory": {"owner_limit": 2147483648, "would_be": 1073741824},
      "container": {"init": false, "guaranteed": false, "others_equal": false,
        "cpu": {"request": 1, "limit": 2}, "memory": {"request": 1073741824, "limit": 2147483648}}})");
  out.job["name"] = name;
  out.job["workload"] = WorkloadOfTest(name);
  out.job["labels"] = std::move(labels);
  return out;
}

TEST(ExportReport, SumsByLabels) {
  const std::vector<ExportedJob> jobs = {
      Job("shop/deployment/web/app", {{"namespace", "shop"}, {"team", "red"}}),
      Job("shop/deployment/db/app", {{"namespace", "shop"}, {"team", "blue"}}),
      Job("shop/deployment/api/app", {{"namespace", "shop"}, {"team", "red"}}),
      Job("lab/deployment/x/app", {{"namespace", "lab"}})};
  const Json report = ExportReport({.plan = {}, .by = {"namespace", "team"}}, jobs);
  ASSERT_EQ(report["groups"].size(), 3U);
  EXPECT_EQ(report["groups"][0]["labels"], Json::parse(R"({"namespace": "lab", "team": null})"));
  EXPECT_EQ(report["groups"][1]["labels"]["team"], "blue");
  const Json& red = report["groups"][2];
  EXPECT_EQ(red["jobs"], 2);
  EXPECT_EQ(red["changed"], 2);
  EXPECT_EQ(red["tasks"], 4);
  EXPECT_EQ(red["cpu"]["requests"], Json::parse(R"({"now": 4.0, "after": 2.0, "saved": 2.0})"));
  EXPECT_EQ(red["cpu"]["limits"]["saved"], 4.0);
  EXPECT_EQ(red["memory"]["limits"]["now"], 4 * 2 * kGiB);
  EXPECT_EQ(red["memory"]["requests"]["after"], 2 * kGiB);
  // The saving is computed from the requests, which fall by 2 cores and 2 GiB, not from the limits.
  EXPECT_EQ(red["saving_per_month"], 2 * 2.5 + 2 * 4.0);
  EXPECT_EQ(report["total"]["saving_per_month"], 26.0);
  EXPECT_EQ(report["total"]["jobs"], 4);
  const std::string text = ExportReportText(report);
  EXPECT_THAT(text, HasSubstr("lab        (none)"));
  EXPECT_THAT(text,
              HasSubstr("Money in EUR: what this changes, at the configured prices: requests of containers"));
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(line.size(), 110U) << line;
}

TEST(ExportReport, WhatIsNotThereIsNotCounted) {
  ExportedJob none = Job("a", {}), unlimited = Job("b", {}), by_hand = Job("c", {}),
              only_limits = Job("d", {});
  none.job["cpu"]["would_be"] = none.job["memory"]["would_be"] = nullptr;
  unlimited.job["container"]["cpu"] = {{"request", nullptr}, {"limit", nullptr}};
  by_hand.job["container"] = nullptr;
  only_limits.job["container"]["cpu"]["request"] = nullptr;
  for (ExportedJob* job : {&none, &unlimited, &by_hand, &only_limits}) {
    job->job.erase("price_per_month");
    job->job.erase("currency");
  }
  const auto total = [](const ExportedJob& job) { return ExportReport({}, {job})["total"]; };
  EXPECT_EQ(total(none)["recommended"], 0);
  EXPECT_TRUE(total(none)["cpu"]["requests"].is_null());
  EXPECT_TRUE(total(none)["saving_per_month"].is_null());
  EXPECT_EQ(total(unlimited)["cpu"]["without_limit"], 1);
  EXPECT_TRUE(total(unlimited)["cpu"]["limits"].is_null());
  EXPECT_EQ(total(unlimited)["cpu"]["requests"]["now"], 0.0)
      << "a container without a request requests nothing";
  EXPECT_TRUE(total(by_hand)["cpu"]["requests"].is_null()) << "its requests are not known";
  EXPECT_EQ(total(only_limits)["cpu"]["requests"]["now"], 4.0)
      << "Kubernetes takes the limit for the request";
  by_hand.job["price_per_month"] = {{"cpu", 2.5}, {"memory", 4}};
  // The recommendation for CPU becomes a request, whose current value is unknown. The memory limit of each of two
  // tasks falls by 1 GiB.
  EXPECT_EQ(total(by_hand)["saving_per_month"], 8.0) << "its limits are all that is known";
  ExportedJob right = Job("e", {});
  right.job["cpu"]["would_be"] = 2;
  right.job["memory"]["would_be"] = 2 * kGiB;
  EXPECT_EQ(total(right)["changed"], 0);
  EXPECT_EQ(total(right)["cpu"]["limits"]["saved"], 0.0);
  const std::string text = ExportReportText(ExportReport({}, {unlimited, none}));
  EXPECT_THAT(text, HasSubstr("(1 of 2)"));
  EXPECT_THAT(text, HasSubstr("Without a cpu limit, now or then, and in no sum of limits: 1."));
  EXPECT_THAT(text, HasSubstr("Set prices.core_hour"));
  EXPECT_THAT(text, Not(HasSubstr("month")));
}

// The saving equals the saving in lists and on the Fleet page, which includes requests known from series and
// containers without a limit.
TEST(ExportReport, RequestsThatSeriesSayAreTheMoney) {
  ExportedJob beside = Job("a", {}), alone = Job("b", {});
  beside.job["container"] = alone.job["container"] = nullptr;
  beside.job["cpu"]["owner_request"] = 1;
  alone.job["cpu"]["of"] = alone.job["memory"]["of"] = "request";
  const auto total = [](const ExportedJob& job) { return ExportReport({}, {job})["total"]; };
  EXPECT_EQ(total(beside)["cpu"]["requests"], Json::parse(R"({"now": 2.0, "after": 1.0, "saved": 1.0})"));
  EXPECT_EQ(total(beside)["saving_per_month"], 2.5 + 2 * 4) << "of memory the limit is all that is known";
  EXPECT_EQ(total(alone)["cpu"]["requests"], Json::parse(R"({"now": 4.0, "after": 2.0, "saved": 2.0})"));
  EXPECT_EQ(total(alone)["saving_per_month"], 2 * 2.5 + 2 * 4.0);
}

TEST(ExportReport, LabelsAreNamedOnce) {
  EXPECT_EQ(*ParseReportLabels("namespace, team"), (std::vector<std::string>{"namespace", "team"}));
  for (const char* text : {"", "a,", "a,a"}) EXPECT_FALSE(ParseReportLabels(text).ok()) << text;
}

}  // namespace
}  // namespace taut::tools
