#include "server/kubernetes/watch/pod_metrics.h"

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;

struct Read {
  absl::StatusOr<size_t> damaged;
  std::vector<std::string> samples;
};

Read ReadMetrics(std::string_view body, std::string_view namespaces = "",
                 const std::string& cluster_name = "") {
  Cluster cluster({.cluster = cluster_name});
  Pod web = TestPod("web-1"), db = TestPod("db-0"), other = TestPod("a");
  db.namespace_name = "data";
  db.owner_kind = "StatefulSet";
  db.owner_name = "db";
  other.namespace_name = "b";
  cluster.pods().Replace({web, db, other});
  HeardReports heard;
  Read out{.damaged = ReportPodMetrics(body, cluster, namespaces, Timestamp::FromSeconds(5), heard),
           .samples = {}};
  for (size_t i = 0; i < heard.said.size(); ++i)
    out.samples.push_back(StrCat(heard.said[i], " @ ", heard.times_ms[i]));
  return out;
}

// A list from metrics-server 0.7.
constexpr std::string_view kList =
    R"({"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","metadata":{},
 "items":[
  {"metadata":{"name":"web-1","namespace":"shop","creationTimestamp":"2023-11-15T00:01:00Z"},
   "timestamp":"2023-11-15T00:00:40Z","window":"14.5s",
   "containers":[{"name":"app","usage":{"cpu":"250125n","memory":"65536Ki"}},
                 {"name":"proxy","usage":{"cpu":"0","memory":"1Mi"}}]},
  {"metadata":{"name":"db-0","namespace":"data"},"timestamp":"2023-11-15T00:00:50Z","window":"1m0s",
   "containers":[{"name":"db","usage":{"cpu":"1500m","memory":"2Gi"}}]}]})";

TEST(PodMetrics, EachContainerHasTwoValues) {
  const Read read = ReadMetrics(kList);
  EXPECT_EQ(*read.damaged, 0U);
  EXPECT_THAT(read.samples,
              ElementsAre("shop/deployment/web web-1[app] cpu_cores 0.000250125 @ 1700006425500",
                          "shop/deployment/web web-1[app] memory_bytes 67108864 @ 1700006440000",
                          "shop/deployment/web web-1[proxy] cpu_cores 0 @ 1700006425500",
                          "shop/deployment/web web-1[proxy] memory_bytes 1048576 @ 1700006440000",
                          "data/statefulset/db db-0[db] cpu_cores 1.5 @ 1700006390000",
                          "data/statefulset/db db-0[db] memory_bytes 2147483648 @ 1700006450000"));
  const Read data = ReadMetrics(kList, "data", "north");
  EXPECT_THAT(data.samples, ElementsAre("north/data/statefulset/db db-0[db] cpu_cores 1.5 @ 1700006390000",
                                        "north/data/statefulset/db db-0[db] memory_bytes 2147483648 @ "
                                        "1700006450000"));
}

TEST(PodMetrics, WhatCannotBeReadIsLeftOutAndCounted) {
  const auto item = [](std::string_view rest) {
    return StrCat(R"({"items":[{"metadata":{"name":"a","namespace":"b"},)", rest, "}]}");
  };
  const std::string app = R"("containers":[{"name":"app","usage":{"cpu":"1","memory":"1"}}])";
  EXPECT_EQ(ReadMetrics(item(StrCat(R"("timestamp":"soon","window":"30s",)", app))).samples.size(), 0U);
  EXPECT_EQ(*ReadMetrics(item(StrCat(R"("timestamp":"soon","window":"30s",)", app))).damaged, 1U);
  EXPECT_EQ(*ReadMetrics(item(StrCat(R"("window":"-30s",)", app))).damaged, 1U);
  EXPECT_EQ(*ReadMetrics(item(app)).damaged, 1U) << "no window";
  EXPECT_EQ(*ReadMetrics(item(R"("window":"30s","containers":[{"name":"app","usage":{"cpu":"1"}}])")).damaged,
            1U);
  EXPECT_EQ(*ReadMetrics(item(R"("window":"30s","containers":[{"usage":{"cpu":"1","memory":"1"}}])")).damaged,
            1U);
  EXPECT_EQ(*ReadMetrics(R"({"items":[{"metadata":{"name":"a"},"window":"30s"}]})").damaged, 1U);
  const Read now = ReadMetrics(item(StrCat(R"("window":"30s",)", app)));
  EXPECT_THAT(now.samples, ElementsAre("b/deployment/web a[app] cpu_cores 1 @ -25000",
                                       "b/deployment/web a[app] memory_bytes 1 @ 5000"))
      << "without a time it is now";
  EXPECT_EQ(*ReadMetrics(R"({"items":null})").damaged, 0U) << "an empty list of some servers";
  EXPECT_EQ(ReadMetrics("{").damaged.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReadMetrics(R"({"kind":"Status"})").damaged.status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace taut::server
