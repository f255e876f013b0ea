#include "server/config/old_unit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(OldUnit, IsSaidOfJobsOfWholePods) {
  const std::vector<std::string> old = {"shop/deployment/web", "north/shop/statefulset/db",
                                        "shop/deployment/web/app", "process/nginx", "a/b/c"};
  const std::string notice = OldUnitNotice(old, KubernetesJobs::kContainers);
  EXPECT_THAT(notice, StartsWith("2 stored jobs are of whole pods (shop/deployment/web)"));
  EXPECT_THAT(notice, HasSubstr("ingest.kubernetes_jobs: pods goes on as before"));
  EXPECT_EQ(OldUnitNotice(old, KubernetesJobs::kPods), "");
  EXPECT_EQ(OldUnitNotice(std::vector<std::string>{"shop/deployment/web/app", "machine/node"},
                          KubernetesJobs::kContainers),
            "");
}

}  // namespace
}  // namespace taut::server
