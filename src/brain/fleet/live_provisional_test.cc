// Tests that each lane shows a provisional limit on a job's first day, but sets no limit.
#include "brain/fleet/live_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

class ProvisionalLimits : public testing::TestWithParam<Policy> {};

TEST_P(ProvisionalLimits, AreThereFromTheFirstWindowAndNeverSet) {
  constexpr size_t kJobs = 3;
  const Cell cell(kJobs);
  LiveFleet fleet(Settings(GetParam(), Mode::kAuto));
  AddJobs(fleet, kJobs);
  PerResource<std::array<int32_t, kJobs>> promised{};
  for (int32_t w = 0; w < 2 * kWindowsPerDay; ++w) {
    PassOutput out;
    Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
    for (uint32_t j = 0; j < kJobs; ++j) {
      for (const Resource r : kResources) {
        const LiveJob& job = fleet.job(JobId{j});
        const bool recommended = job.of(r).lane.recommended().has_value();
        const std::optional<ProvisionalLimit> early = fleet.risk.ProvisionalOf(job, r);
        ASSERT_NE(recommended, early.has_value()) << w << " " << Name(r);
        int32_t& first = promised[IndexOf(r)][j];
        if (w == 0) first = early->first_limit.index;
        if (early.has_value()) {
          EXPECT_EQ(early->first_limit.index, first) << w;
          EXPECT_GE(early->limit, early->peak);
          EXPECT_EQ(fleet.LimitOf(job, r), job.of(r).owner()) << "it is never set";
        }
        EXPECT_EQ(recommended, w + 1 >= first) << "the first limit comes when it was promised";
      }
    }
    for (const Decision& d : out.decisions) EXPECT_GE(w + 1, kWindowsPerDay) << d.sentence;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, ProvisionalLimits,
                         testing::Values(Policy::kMovingWindow, Policy::kEnsemble, Policy::kAnalogs,
                                         Policy::kWorkFunction, Policy::kPeak));

TEST(ProvisionalLimitsOff, AJobWhoseModeIsOffHasNone) {
  const Cell cell(1);
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kOff));
  AddJobs(fleet, 1);
  PassOutput out;
  Step(fleet, cell.windows()[0], out);
  for (const Resource r : kResources)
    EXPECT_FALSE(fleet.risk.ProvisionalOf(fleet.job(JobId{0}), r).has_value());
}

}  // namespace
}  // namespace taut::brain
