// Tests that a dry run is not described as fact: the owners' limits are in force.
#include "brain/fleet/live_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/api/json.h"

namespace taut::server {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ExplainParagraph, SaysWhatHoldsNowInADryRun) {
  const brain::Cell cell(2);
  brain::LiveFleet fleet(Settings(brain::Policy::kMovingWindow, Mode::kAuto));
  brain::AddJobs(fleet, 2);
  brain::PassOutput out;
  for (int w = 0; w < 2 * kWindowsPerDay; ++w) Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
  const brain::LiveJob& job = fleet.job(JobId{0});
  ASSERT_TRUE(job.of(Resource::kMemory).gate.in_force.has_value());
  const Reason reason = fleet.risk.Explain(JobId{0}, Resource::kMemory);
  const std::string dry = ExplainParagraph(job, Resource::kMemory, reason, false);
  EXPECT_THAT(dry, HasSubstr("512 MiB now"));
  EXPECT_THAT(dry, HasSubstr("would be applied automatically: this is a dry run"));
  const std::string real = ExplainParagraph(job, Resource::kMemory, reason, true);
  EXPECT_THAT(real, Not(HasSubstr("512 MiB now")));
  EXPECT_THAT(real, HasSubstr("New limits are applied automatically."));
}

TEST(ExplainParagraph, WithoutARecommendationItSaysWhatHoldsNow) {
  brain::LiveFleet fleet(Settings(brain::Policy::kMovingWindow, Mode::kAuto));
  brain::AddJobs(fleet, 1);
  brain::LiveJob& job = const_cast<brain::LiveJob&>(fleet.job(JobId{0}));
  const auto paragraph = [&](bool enforced) {
    return ExplainParagraph(job, Resource::kMemory, Reason(), enforced);
  };
  EXPECT_THAT(paragraph(false), HasSubstr("for a recommendation yet: each task has no limit now. "));
  job.of(Resource::kMemory).owner_limit = 1 << 30;
  EXPECT_THAT(paragraph(false), HasSubstr("for a recommendation yet: each task has 1.00 GiB now. "));
  // An earlier recommender of the job set this limit.
  job.of(Resource::kMemory).gate.in_force = 1 << 29;
  EXPECT_THAT(paragraph(false), HasSubstr("yet: each task has 1.00 GiB now; 512 MiB is decided. "));
  EXPECT_THAT(paragraph(true), HasSubstr("yet: each task has 512 MiB now. "));
}

}  // namespace
}  // namespace taut::server
