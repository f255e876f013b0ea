#include "common/model/pod_totals.h"

#include <vector>

#include "gtest/gtest.h"

namespace taut {
namespace {

PodPart Part(ContainerResources recommended_cpu, ContainerResources cpu_now) {
  PodPart out;
  out.recommended[0] = recommended_cpu;
  out.now[0] = cpu_now;
  return out;
}

TEST(PodTotals, AreSumsOfWhatIsRecommendedAndOfWhatStays) {
  const std::vector<PodPart> parts = {Part({0.5, 1}, {2, 4}), Part({}, {0.25, 0.5}),
                                      Part({0.125, {}}, {1, 2})};
  const PodTotals totals = TotalsOf(parts);
  EXPECT_EQ(totals.containers, 3U);
  EXPECT_EQ(totals.recommended, 2U);
  EXPECT_EQ(totals.of(Resource::kCpu), (ContainerResources{0.875, 3.5}));
  EXPECT_EQ(totals.of(Resource::kMemory), ContainerResources()) << "no container has any";
}

TEST(PodTotals, OneContainerWithoutALimitLeavesThePodWithoutOne) {
  const PodTotals totals = TotalsOf(std::vector<PodPart>{Part({0.5, 1}, {2, 4}), Part({0.5, {}}, {1, {}})});
  EXPECT_EQ(totals.of(Resource::kCpu), (ContainerResources{1, {}}));
}

TEST(PodTotals, ALimitAloneIsRequested) {
  EXPECT_EQ(TotalsOf(std::vector<PodPart>{Part({}, {{}, 2}), Part({{}, 1}, {{}, 4})}).of(Resource::kCpu),
            (ContainerResources{3, 3}));
  EXPECT_EQ(TotalsOf({}).of(Resource::kCpu), ContainerResources());
}

}  // namespace
}  // namespace taut
