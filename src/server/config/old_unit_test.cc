#include "server/config/old_unit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(OldUnit, IsSaidOfJobsOfWholePods) {
  const auto stored = [](std::string_view name, std::string_view cell = "") {
    return WorkloadOfStoredName(name, cell)
        .value_or(Workload{.source = Source::kSeries, .name = std::string(name)});
  };
  const std::vector<Workload> old = {
      stored("shop/deployment/web"), stored("north/shop/statefulset/db", "north"),
      stored("shop/deployment/web/app"), stored("process/nginx"), stored("a/b")};
  const std::string notice = OldUnitNotice(old, KubernetesJobs::kContainers);
  EXPECT_THAT(notice, StartsWith("2 stored jobs are of whole pods (shop/deployment/web)"));
  EXPECT_THAT(notice, HasSubstr("ingest.kubernetes_jobs: pods goes on as before"));
  EXPECT_EQ(OldUnitNotice(old, KubernetesJobs::kPods), "");
  EXPECT_EQ(OldUnitNotice(std::span(old).subspan(2), KubernetesJobs::kContainers), "");
}

}  // namespace
}  // namespace taut::server
