#include "server/api/route_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::server {
namespace {

using testing::HasSubstr;
using testing::Not;

HttpRequest Request(std::string_view target) {
  HttpRequest out;
  const auto parsed = ParseTarget(target);
  out.path = parsed->path;
  out.segments = parsed->segments;
  return out;
}

TEST(RouteTimes, WhatClientsAskForMakesNoRoutes) {
  EXPECT_EQ(RouteTimes::RouteOf(Request("/api/v1/jobs/shop%2Fweb/usage?columns=5")),
            "/api/v1/jobs/{job}/usage");
  EXPECT_EQ(RouteTimes::RouteOf(Request("/api/v1/jobs/shop%2Fweb")), "/api/v1/jobs/{job}");
  EXPECT_EQ(RouteTimes::RouteOf(Request("/api/v1/decisions/17")), "/api/v1/decisions/{id}");
  EXPECT_EQ(RouteTimes::RouteOf(Request("/assets/index-1a2b.js")), "/assets");
  EXPECT_EQ(RouteTimes::RouteOf(Request("/metrics")), "/metrics");
  for (const char* path : {"/wp-login.php", "/api/v1/jobs/a/b/c", "/api/v1/jobs/a/nosuch", "/api/v1/fleet/"})
    EXPECT_EQ(RouteTimes::RouteOf(Request(path)), "other") << path;
}

TEST(RouteTimes, CountsCumulativelyInBuckets) {
  RouteTimes times;
  times.Note("/api/v1/jobs", 0.0005);
  times.Note("/api/v1/jobs", 0.001);
  times.Note("/api/v1/jobs", 0.002);
  times.Note("/api/v1/jobs", 60);
  MetricsText out;
  times.Put(out);
  const std::string text = out.Take();
  EXPECT_THAT(text, HasSubstr("# TYPE tautd_http_request_duration_seconds histogram\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{route=\"/api/v1/jobs\",le=\"0.001\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{route=\"/api/v1/jobs\",le=\"0.0025\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{route=\"/api/v1/jobs\",le=\"+Inf\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("_count{route=\"/api/v1/jobs\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("_sum{route=\"/api/v1/jobs\"} 60.0035\n"));
  EXPECT_THAT(text, Not(HasSubstr("/api/v1/fleet")));
}

}  // namespace
}  // namespace taut::server
