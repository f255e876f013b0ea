#include "tools/sim/bill_replay.h"

#include "common/base/byte_units.h"
#include "tools/sim/replay_fixture.h"

namespace taut::tools {
namespace {

constexpr brain::Money kOne = {1'000'000};

brain::PriceSheet Sheet(brain::ChargeRule rule) {
  brain::PriceSheet out;
  brain::PriceTier& tier = out.tiers.emplace_back();
  tier.name = "all";
  tier.rule = rule;
  tier.prices = {{0, {kOne, kOne}}};
  return out;
}

// One day of a job with two tasks. Each task uses half a core and 1 GiB, with limits of 2 cores and 4 GiB.
struct BillTraceTest : testing::Test {
  BillTraceTest() {
    job = days.AddJob(Named("shop/web"));
    days.AddJob(Named("shop/idle"));
    for (int32_t window = 0; window < kWindowsPerDay; ++window) {
      for (uint32_t task = 0; task < 2; ++task) {
        TaskWindow t;
        t.task = task;
        t.cpu_mean_cores = 0.5F;
        t.memory_mean_bytes = static_cast<float>(kGiB);
        days.Put(job, window, t);
      }
      days.SetOwner(job, window, 2, 4 * kGiB);
    }
    days.Finish();
    period.end_s = kDaySeconds;
  }
  std::string Charged(brain::ChargeRule rule, const LimitsInForce* limits = nullptr) {
    const brain::PriceSheet sheet = Sheet(rule);
    const std::vector<BilledJob> jobs(2);
    const absl::StatusOr<brain::Bill> bill = BillTrace(days, sheet, jobs, {period, limits, {}, {}, {}});
    EXPECT_TRUE(bill.ok()) << bill.status();
    EXPECT_EQ(bill->jobs.size(), 1U) << "the other has no usage";
    return ToText(bill->jobs[0].sums.charges);
  }
  MadeDays days;
  JobId job;
  BillPeriod period;
};

TEST_F(BillTraceTest, ChargesTheTasksOfAWindow) {
  EXPECT_EQ(Charged(brain::ChargeRule::kUsage), "72.00");         // (1 core + 2 GiB) x 24 h
  EXPECT_EQ(Charged(brain::ChargeRule::kReservation), "288.00");  // (4 + 8) x 24 h
  period.start_s = kDaySeconds / 2;
  EXPECT_EQ(Charged(brain::ChargeRule::kReservation), "144.00");
}

TEST_F(BillTraceTest, ARecommendersLimitCountsFromItsWindowOn) {
  LimitsInForce limits;
  limits.Add({job, brain::Policy::kStatic, Resource::kCpu, WindowId{kWindowsPerDay / 2}, 1.0});
  EXPECT_EQ(limits.At(job, Resource::kCpu, WindowId{3}), std::nullopt);
  EXPECT_EQ(limits.At(job, Resource::kMemory, WindowId{200}), std::nullopt);
  // For 12 hours, the limits of the two tasks are 2 cores lower in total.
  EXPECT_EQ(Charged(brain::ChargeRule::kReservation, &limits), "264.00");
  limits.Add({job, brain::Policy::kStatic, Resource::kCpu, WindowId{kWindowsPerDay * 3 / 4}, std::nullopt});
  EXPECT_EQ(Charged(brain::ChargeRule::kReservation, &limits), "276.00") << "unlimited: the owner's again";
}

}  // namespace
}  // namespace taut::tools
