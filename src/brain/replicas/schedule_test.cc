#include "brain/replicas/schedule.h"

#include "brain/replicas/policies.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

Timestamp At(std::string_view local, const char* zone) {
  absl::TimeZone tz;
  EXPECT_TRUE(absl::LoadTimeZone(zone, &tz));
  absl::CivilSecond second;
  EXPECT_TRUE(absl::ParseLenientCivilTime({local.data(), local.size()}, &second)) << local;
  return {absl::ToUnixMicros(absl::FromCivil(second, tz))};
}

ReplicaSchedule Of(std::string_view text) {
  absl::StatusOr<ReplicaSchedule> schedule = ReplicaSchedule::Parse(text);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return schedule.ok() ? *schedule : ReplicaSchedule();
}

constexpr const char* kBerlin = "Europe/Berlin";

TEST(ReplicaSchedule, AWorkingDayInItsZoneWithItsExceptions) {
  const ReplicaSchedule s =
      Of("from 0 8 * * mon-fri to 0 18 * * 1-5 in Europe/Berlin min 10 max 40 except 2026-12-25");
  const auto min_at = [&](std::string_view local) { return s.At(At(local, kBerlin)).min; };
  EXPECT_EQ(min_at("2026-11-23T07:59:59"), std::nullopt);  // a Monday
  EXPECT_EQ(min_at("2026-11-23T08:00:00"), 10);
  EXPECT_EQ(min_at("2026-11-23T17:59:59"), 10);
  EXPECT_EQ(min_at("2026-11-23T18:00:00"), std::nullopt);
  EXPECT_EQ(min_at("2026-11-22T12:00:00"), std::nullopt);  // a Sunday
  EXPECT_EQ(min_at("2026-12-24T12:00:00"), 10);
  EXPECT_EQ(min_at("2026-12-25T12:00:00"), std::nullopt);
  EXPECT_EQ(s.At(At("2026-07-01T12:00:00", kBerlin)).max, 40);
  // In summer and winter, 08:00 follows the zone's clock.
  EXPECT_EQ(s.At(At("2026-07-01T06:00:00", "UTC")).min, 10);
  EXPECT_EQ(s.At(At("2026-11-23T06:30:00", "UTC")).min, std::nullopt);
}

TEST(ReplicaSchedule, ANightThatEndsOnTheNextDay) {
  const ReplicaSchedule s = Of("from 0 22 * * 5 to 0 6 * * 6 max 2 except 2026-11-27");
  EXPECT_EQ(s.At(At("2026-11-20T23:00:00", "UTC")).max, 2);
  EXPECT_EQ(s.At(At("2026-11-21T05:59:00", "UTC")).max, 2);
  EXPECT_EQ(s.At(At("2026-11-21T06:00:00", "UTC")).max, std::nullopt);
  EXPECT_EQ(s.At(At("2026-11-28T01:00:00", "UTC")).max, std::nullopt) << "it did not begin on the 27th";
}

// Clocks in Berlin are set forward at 02:00 on 2026-03-29, and back at 03:00 on 2026-10-25.
TEST(ReplicaSchedule, ClocksThatChange) {
  const ReplicaSchedule skipped = Of("from 30 2 * * * to 0 4 * * * in Europe/Berlin min 5");
  const int64_t change_us = At("2026-03-29T01:00:00", "UTC").us;
  EXPECT_EQ(skipped.At({change_us - 1}).min, std::nullopt);
  EXPECT_EQ(skipped.At({change_us}).min, 5) << "a skipped time is at the change";
  const ReplicaSchedule twice = Of("from 30 2 * * * to 45 2 * * * in Europe/Berlin min 5");
  EXPECT_EQ(twice.At(At("2026-10-25T00:29:00", "UTC")).min, std::nullopt);
  EXPECT_EQ(twice.At(At("2026-10-25T00:30:00", "UTC")).min, 5) << "the first 02:30";
  EXPECT_EQ(twice.At(At("2026-10-25T00:45:00", "UTC")).min, std::nullopt);
  EXPECT_EQ(twice.At(At("2026-10-25T01:30:00", "UTC")).min, std::nullopt) << "the second 02:30";
}

TEST(ReplicaSchedule, CronFields) {
  const auto holds = [](std::string_view from, std::string_view at) {
    return Of("from " + std::string(from) + " to 59 23 * * * min 1").At(At(at, "UTC")).min.has_value();
  };
  EXPECT_TRUE(holds("*/15 3-5 * * *", "2026-11-23T03:00:00"));
  EXPECT_FALSE(holds("*/15 3-5 * * *", "2026-11-23T02:59:00"));
  EXPECT_TRUE(holds("0 0 29 2 *", "2028-02-29T10:00:00"));
  EXPECT_FALSE(holds("0 0 29 2 *", "2027-03-01T10:00:00"));
  // If both day fields are restricted, a match of one field suffices.
  EXPECT_TRUE(holds("0 1 13 * fri", "2026-11-13T02:00:00"));
  EXPECT_TRUE(holds("0 1 13 * fri", "2026-11-20T02:00:00"));
  EXPECT_TRUE(holds("0 1 13 * fri", "2026-12-13T02:00:00"));
  EXPECT_FALSE(holds("0 1 13 * fri", "2026-11-14T02:00:00"));
  EXPECT_TRUE(holds("0 1 * JUN-aug 0,7", "2026-06-07T02:00:00"));
  EXPECT_TRUE(holds("50/5 2 * * *", "2026-11-23T02:51:00"));
}

TEST(ReplicaSchedule, TheHighestMinimumAndTheLowestMaximumHold) {
  const ReplicaSchedule s =
      Of("from 0 8 * * * to 0 20 * * * min 4 max 30; from 0 9 * * * to 0 17 * * * min 12; "
         "from 0 10 * * * to 0 11 * * * max 9;");
  EXPECT_EQ(s.At(At("2026-11-23T08:30:00", "UTC")).min, 4);
  const ReplicaSchedule::Limits limits = s.At(At("2026-11-23T10:30:00", "UTC"));
  EXPECT_EQ(limits.min, 12);
  EXPECT_EQ(limits.max, 12) << "the minimum wins";
  EXPECT_EQ(limits.min_rule, "from 0 9 * * * to 0 17 * * * min 12");
}

TEST(ReplicaSchedule, ErrorsNameTheRuleAndThePlace) {
  const auto error = [](std::string_view text) {
    return std::string(ReplicaSchedule::Parse(text).status().message());
  };
  EXPECT_EQ(error("from 0 8 * * 1-5 to 0 18 * * 9 min 1"),
            "invalid rule \"from 0 8 * * 1-5 to 0 18 * * 9 min 1\": invalid day of the week \"9\": expected "
            "*, numbers from 0 to 7, ranges, lists or steps");
  for (const char* bad :
       {"from 0 8 * * to 0 9 * * * min 1", "from 0 8 * * * min 1", "from 0 8 * * * to 0 9 * * *",
        "from 0 8 * * * to 0 8 * * * min 1", "from 60 8 * * * to 0 9 * * * min 1",
        "from -1 8 * * * to 0 9 * * * min 1", "from 5-1 8 * * * to 0 9 * * * min 1",
        "from 0/0 8 * * * to 0 9 * * * min 1", "from 0 8 * * * to 0 9 * * * min -1",
        "from 0 8 * * * to 0 9 * * * min 5 max 4", "from 0 8 * * * to 0 9 * * * in Mars/Olympus min 1",
        "from 0 8 * * * to 0 9 * * * min 1 except 2026-02-30", "from 0 8 30 2 * to 0 9 * * * min 1",
        "from 0 8 * * * to 0 9 31 4,6,sep,11 */1 min 1", "min 1 min 2", "8:00-18:00",
        "from 0 8 * * *, to 0 9 * * * min 1", "from 0 8 * * * to 0 9 * * * min 1.5"})
    EXPECT_FALSE(ReplicaSchedule::Parse(bad).ok()) << bad;
  EXPECT_THAT(error("from 0 8 30 2 * to 0 9 * * * min 1"), testing::HasSubstr("never come"));
  for (const char* good : {"from 0 8 29 2 * to 0 9 * * * min 1", "from 0 8 30 2 1 to 0 9 * * * min 1",
                           "from 0 8 31 * * to 0 9 * * * min 1"})
    EXPECT_TRUE(ReplicaSchedule::Parse(good).ok()) << good;
  EXPECT_TRUE(Of("").empty());
  EXPECT_TRUE(Of(" ; ").empty());
}

TEST(ReplicaSchedule, LimitsAnyPolicyWithinItsBounds) {
  for (const ReplicaPolicyInfo& info : ReplicaPolicies()) {
    ReplicaSettings s;
    s.bounds = {0, 20};
    ASSERT_TRUE(SetReplicaSetting("replicas.schedule",
                                  "from 0 8 * * * to 0 9 * * * min 7; from 0 9 * * * to 0 10 * * * max 2; "
                                  "from 0 10 * * * to 0 11 * * * min 100",
                                  s)
                    .ok());
    const auto policy = NewReplicaPolicy(info, s);
    const auto decide = [&](std::string_view at, std::optional<double> load, int count) {
      return policy->Decide({At(at, "UTC"), load, 1, count, 0});
    };
    EXPECT_LE(decide("2026-11-23T07:00:00", 0.5, 1), 1) << info.name;
    EXPECT_EQ(decide("2026-11-23T08:00:00", 0.5, 1), 7) << info.name;
    Reason reason;
    policy->Explain(reason);
    EXPECT_NE(
        reason.sentence.find(" The schedule asks for at least 7: \"from 0 8 * * * to 0 9 * * * min 7\"."),
        std::string::npos)
        << reason.sentence;
    EXPECT_EQ(decide("2026-11-23T08:30:00", std::nullopt, 1), 7) << "also without a load";
    EXPECT_EQ(decide("2026-11-23T09:00:00", 15, 7), 2) << info.name;
    EXPECT_EQ(policy->Clone()->Decide({At("2026-11-23T10:00:00", "UTC"), 1, 1, 2, 0}), 20) << info.name;
  }
}

}  // namespace
}  // namespace taut::brain
