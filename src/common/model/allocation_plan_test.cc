#include "common/model/allocation_plan.h"

#include <gtest/gtest.h>

namespace taut {
namespace {

TEST(AllocationPlan, TheShareIsTheOwnersUnlessItIsSet) {
  AllocationPlace place;
  place.now = {0.5, 1};
  EXPECT_EQ(RequestShareOf(Resource::kCpu, {}, place), 0.5);
  place.owner = {0.1, 0.4};
  EXPECT_EQ(RequestShareOf(Resource::kCpu, {}, place), 0.25);
  Allocation set;
  set.request_share = 0.8;
  EXPECT_EQ(RequestShareOf(Resource::kCpu, set, place), 0.8);
  place.guaranteed = true;
  EXPECT_EQ(RequestShareOf(Resource::kCpu, set, place), 1);
  EXPECT_EQ(RequestShareOf(Resource::kCpu, {}, {}), 1) << "neither request nor limit";
}

TEST(AllocationPlan, TheAmountIsWhatTheAllocationSays) {
  AllocationPlace place;
  place.now = {32 * kMiB, 64 * kMiB};
  Allocation allocation;
  const auto plan = [&] { return PlanAllocation(Resource::kMemory, 100 * kMiB, allocation, place); };
  EXPECT_EQ(plan(), (ContainerResources{50 * kMiB, 100 * kMiB}));
  allocation.applies_to = AppliesTo::kRequest;
  EXPECT_EQ(plan(), (ContainerResources{100 * kMiB, 200 * kMiB}));
  allocation.applies_to = AppliesTo::kRequestOnly;
  EXPECT_EQ(plan(), (ContainerResources{64 * kMiB, std::nullopt})) << "at most the limit";
  place.now.limit.reset();
  EXPECT_EQ(plan(), (ContainerResources{100 * kMiB, std::nullopt}));
}

TEST(AllocationPlan, TheQosClassStays) {
  Allocation equal;
  equal.request_share = 1;
  AllocationPlace place;
  place.now = {32 * kMiB, 64 * kMiB};
  place.rest_is_equal = true;
  EXPECT_EQ(PlanAllocation(Resource::kMemory, 1000, equal, place), (ContainerResources{999, 1000}));
  place.rest_is_equal = false;
  EXPECT_EQ(PlanAllocation(Resource::kMemory, 1000, equal, place), (ContainerResources{1000, 1000}));
  equal.request_share = 0.5;
  place.guaranteed = true;
  EXPECT_EQ(PlanAllocation(Resource::kMemory, 1000, equal, place), (ContainerResources{1000, 1000}));
}

TEST(AllocationPlan, ARequestThatAnotherCountsOnStays) {
  AllocationPlace place;
  place.now = {32 * kMiB, 64 * kMiB};
  place.request_stays = true;
  const auto limit = [&](double amount) {
    const ContainerResources plan = PlanAllocation(Resource::kMemory, amount, {}, place);
    EXPECT_FALSE(plan.request.has_value());
    return *plan.limit;
  };
  EXPECT_EQ(limit(100 * kMiB), 100 * kMiB);
  EXPECT_EQ(limit(10 * kMiB), 32 * kMiB) << "a limit below the request is refused";
  place.rest_is_equal = true;
  EXPECT_EQ(limit(10 * kMiB), 32 * kMiB + 1) << "the pod would become Guaranteed";
}

TEST(AllocationPlan, AmountsAreRoundedUpToWhatTheApiKeeps) {
  EXPECT_DOUBLE_EQ(RoundedAmount(Resource::kCpu, 0.1234), 0.124);
  EXPECT_DOUBLE_EQ(RoundedAmount(Resource::kCpu, 0.1 * 3), 0.3);
  EXPECT_EQ(RoundedAmount(Resource::kMemory, 1000.5), 1001);
  AllocationPlace place;
  place.now = {0.1, 0.2};
  EXPECT_DOUBLE_EQ(*PlanAllocation(Resource::kCpu, 0, {}, place).limit, 0.001) << "never 0";
}

TEST(AllocationPlan, ARequestIsBilledWhereTheOwnerHasOneBesideTheLimit) {
  const ContainerResources both{1, 4};
  EXPECT_DOUBLE_EQ(BilledAmount(Resource::kCpu, 2, {}, both), 0.5) << "at the owner's ratio";
  EXPECT_DOUBLE_EQ(BilledAmount(Resource::kCpu, 4, {}, both), 1);
  EXPECT_DOUBLE_EQ(BilledAmount(Resource::kCpu, 2, {AppliesTo::kLimit, 0.8}, both), 1.6);
  EXPECT_EQ(BilledAmount(Resource::kCpu, 2, {}, {std::nullopt, 4}), 2) << "a limit alone is its request";
  EXPECT_EQ(BilledAmount(Resource::kCpu, 2, {}, {1, std::nullopt}), 2) << "the amount is the request";
}

}  // namespace
}  // namespace taut
