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

const std::vector<std::string_view> kPaths = {"/metrics",
                                              "/assets/{file}",
                                              "/api/v1/jobs",
                                              "/api/v1/jobs/{job}",
                                              "/api/v1/jobs/{job}/settings",
                                              "/api/v1/jobs/{job}/settings",
                                              "/api/v1/decisions/{id}",
                                              "/api/v1/fleet"};

TEST(RouteTimes, WhatClientsAskForMakesNoRoutes) {
  const RouteTimes times(kPaths);
  EXPECT_EQ(times.RouteOf(Request("/api/v1/jobs/shop%2Fweb/settings?columns=5")),
            "/api/v1/jobs/{job}/settings");
  EXPECT_EQ(times.RouteOf(Request("/api/v1/jobs/shop%2Fweb")), "/api/v1/jobs/{job}");
  EXPECT_EQ(times.RouteOf(Request("/api/v1/decisions/17")), "/api/v1/decisions/{id}");
  EXPECT_EQ(times.RouteOf(Request("/assets/index-1a2b.js")), "/assets/{file}");
  EXPECT_EQ(times.RouteOf(Request("/metrics")), "/metrics");
  for (const char* path : {"/wp-login.php", "/api/v1/jobs/a/b/c", "/api/v1/jobs/a/nosuch", "/api/v1/fleet/"})
    EXPECT_EQ(times.RouteOf(Request(path)), "other") << path;
}

TEST(RouteTimes, CountsCumulativelyInBuckets) {
  RouteTimes times(kPaths);
  times.Note(Request("/api/v1/jobs"), 0.0005);
  times.Note(Request("/api/v1/jobs"), 0.001);
  times.Note(Request("/api/v1/jobs"), 0.002);
  times.Note(Request("/api/v1/jobs"), 60);
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
