// Tests that the fleet models do not depend on the order of jobs and on the division of a fleet into shares.
#include "brain/recommend/fleet_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "brain/recommend/analog_fleet.h"
#include "brain/recommend/boosted_fleet.h"
#include "brain/recommend/work_function.h"
#include "common/base/random.h"

namespace taut::brain {
namespace {

constexpr int kJobs = 300, kDays = 20;

AnalogSettings Small() {
  AnalogSettings s;
  s.min_rows = 200;
  s.min_days = 2;
  s.max_rows = 1000;  // fewer rows than there are lessons
  s.solver_jobs = 50;
  return s;
}

BoostedSettings SmallBoosting() {
  BoostedSettings s;
  s.min_lessons = 200;
  s.min_days = 2;
  s.max_lessons = 400;  // fewer than there are
  s.solver_jobs = 50;
  s.trees = 5;
  return s;
}

BoostedRow BoostedRowOf(int32_t day, Rng& rng) {
  BoostedRow row;
  for (int32_t period = 8 * day; period < 8 * day + 2; ++period) {
    BoostedLesson& lesson = row.lessons.emplace_back();
    for (float& f : lesson.features) f = static_cast<float>(rng.Normal());
    lesson.outcomes[0] = static_cast<float>(0.3 * rng.Normal());
    lesson.size = 1;
    row.periods.push_back(period);
  }
  row.finished = 2;
  row.size = std::exp(rng.Uniform(17, 24));
  row.own_order = rng.Uniform() < 0.05;
  if (day > 2) row.verdict = BoostedVerdict{0.1 * rng.Uniform(), rng.Uniform() < 0.03 ? 1.0 : 0.0, 1};
  BoostedCase& latest = row.latest.emplace();
  for (float& f : latest.features) f = static_cast<float>(rng.Normal());
  latest.week_peak = row.size;
  latest.ceiling = 2 * row.size;
  return row;
}

// Returns the rows of a generated fleet for a day, of analogs, of the work function and of the boosted
// recommender.
FleetRows RowsOf(int32_t day) {
  FleetRows rows;
  rows.reserve(3 * size_t{kJobs});  // so that a reference to a row stays valid
  for (uint64_t job = 0; job < kJobs; ++job) {
    Rng rng = Rng(7).Fork(job * 1000 + static_cast<uint64_t>(day));
    FleetRow& row = rows.emplace_back();
    row.job = MixBits(job);
    row.tomorrow.week_peak = std::exp(rng.Uniform(17, 24));
    row.tomorrow.owner_limit = rng.Uniform() < 0.8 ? 3 * row.tomorrow.week_peak : -1;
    row.tomorrow.own.size = 1;
    row.tomorrow.own.weight[0] = 1;
    row.own_order = rng.Uniform() < 0.05;
    for (float& f : row.tomorrow.features) f = static_cast<float>(rng.Normal());
    if (day > 0) row.lesson = FleetLesson{row.tomorrow.features, static_cast<float>(0.1 * rng.Normal())};
    if (day > 2) row.verdict = FleetVerdict{static_cast<float>(0.1 * rng.Uniform()), rng.Uniform() < 0.03};
    if (rng.Uniform() < 0.1) row.warning_came_true = rng.Uniform() < 0.5;
    FleetRow& work = rows.emplace_back();
    work.job = row.job;
    work.work = FleetWork{rng.Uniform(), 100 * rng.Uniform(), 200 * rng.Uniform(), day > 2};
    FleetRow& boosted = rows.emplace_back();
    boosted.job = row.job;
    boosted.boosted = BoostedRowOf(day, rng);
  }
  return rows;
}

struct Models {
  AnalogFleet analogs{Resource::kMemory, Small()};
  WorkFunctionFleet works{Resource::kMemory, WorkFunctionSettings()};
  BoostedFleet boosted{Resource::kMemory, SmallBoosting(), {0.03, 0.1}};

  std::string Saved() const {
    std::string out;
    ByteWriter writer(&out);
    analogs.Save(writer);
    works.Save(writer);
    boosted.Save(writer);
    return out;
  }
};

// Returns the state of models after kDays days. The rows of each day are divided into `parts` shares, in an order
// that `seed` determines.
std::string Taught(size_t parts, uint64_t seed) {
  Models models;
  Rng rng(seed);
  for (int32_t day = 0; day < kDays; ++day) {
    FleetRows rows = RowsOf(day);
    if (seed != 0)
      for (size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[rng.Below(i)]);
    std::vector<FleetShare> shares(parts, FleetShare(day, Small(), SmallBoosting()));
    for (const FleetRow& row : rows) shares[seed == 0 ? row.job % parts : rng.Below(parts)].Add({&row, 1});
    for (size_t i = parts - 1; i > 0; --i) shares[i - 1].Merge(shares[i]);
    models.works.CloseDay(shares[0].works);
    models.analogs.CloseDay(std::move(shares[0].analogs));
    models.boosted.CloseDay(std::move(shares[0].boosted));
  }
  EXPECT_TRUE(models.analogs.ready());
  EXPECT_TRUE(models.boosted.ready());
  return models.Saved();
}

TEST(FleetShare, AnyOrderAndDivisionOfTheFleetTeachesTheSame) {
  const std::string whole = Taught(1, 0);
  for (const size_t parts : {1, 2, 7}) {
    EXPECT_EQ(Taught(parts, 0), whole) << parts;
    for (const uint64_t seed : {3, 4}) EXPECT_EQ(Taught(parts, seed), whole) << parts << " by " << seed;
  }
}

TEST(FleetShare, TheSampleIsUniformOverDays) {
  BottomK<int32_t> days(500);
  for (int32_t day = 0; day < 10; ++day) {
    for (uint64_t job = 0; job < 1000; ++job)
      days.Add(MixBits(MixBits(job) ^ MixBits(static_cast<uint64_t>(day))), day);
  }
  std::vector<int> counts(10);
  for (const auto& [key, day] : days.Sort()) ++counts[static_cast<size_t>(day)];
  for (const int count : counts) EXPECT_NEAR(count, 50, 25);
}

TEST(FleetShare, ASavedShareTeachesAsTheShareDoes) {
  const std::string expected = Taught(1, 0);
  for (const bool by_bytes : {false, true}) {
    Models models;
    for (int32_t day = 0; day < kDays; ++day) {
      FleetShare share(day, Small(), SmallBoosting());
      share.analogs.sample.Limit(models.analogs.sample_bound());
      share.boosted.sample.Limit(models.boosted.sample_bound());
      share.Add(RowsOf(day));
      if (by_bytes) {
        std::string bytes;
        ByteWriter out(&bytes);
        share.Save(out);
        share = FleetShare(day, Small(), SmallBoosting());
        ByteReader in(bytes);
        ASSERT_TRUE(share.Load(in));
        EXPECT_EQ(in.remaining(), 0);
        for (const size_t cut : {size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
          FleetShare broken(day, Small(), SmallBoosting());
          ByteReader short_in(std::string_view(bytes).substr(0, cut));
          EXPECT_FALSE(broken.Load(short_in)) << cut;
        }
        FleetShare other_day(day + 1, Small(), SmallBoosting());
        ByteReader again(bytes);
        EXPECT_FALSE(other_day.Load(again));
      }
      models.works.CloseDay(share.works);
      models.analogs.CloseDay(std::move(share.analogs));
      models.boosted.CloseDay(std::move(share.boosted));
    }
    EXPECT_EQ(models.Saved(), expected) << by_bytes;
  }
}

}  // namespace
}  // namespace taut::brain
