// Tests of the sums of promised and delivered risk.
#include "brain/fleet/risk_table.h"

#include <cmath>
#include <string>
#include <vector>

#include "common/base/byte_units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;

constexpr RiskKey kMemory{.resource = Resource::kMemory,
                          .set = true,
                          .promise = RiskPromise::kChance,
                          .job_class = static_cast<uint8_t>(OomTolerance::kBySize),
                          .size = 2};
constexpr RiskKey kCpu{.resource = Resource::kCpu,
                       .set = false,
                       .promise = RiskPromise::kFleetShare,
                       .job_class = static_cast<uint8_t>(JobClass::kServing),
                       .size = 0};

RiskDay Day(const RiskKey& key, double promised, bool over) {
  return {.key = key, .promised = promised, .over = over};
}

const RiskSums& Recent(const RiskTable& table, const RiskKey& key) { return table.rows().at(key).recent; }
const RiskSums& All(const RiskTable& table, const RiskKey& key) { return table.rows().at(key).all; }

std::string Bytes(const RiskTable& table) {
  std::string bytes;
  ByteWriter out(&bytes);
  table.Save(out);
  return bytes;
}

TEST(RiskTable, SizesAreByTheLimitOfATask) {
  for (const auto& [cores, size] : std::vector<std::pair<double, std::string_view>>{{0, "<0.25"},
                                                                                    {0.24, "<0.25"},
                                                                                    {0.25, "0.25-1"},
                                                                                    {1, "1-4"},
                                                                                    {3.99, "1-4"},
                                                                                    {4, "4-16"},
                                                                                    {16, "16+"},
                                                                                    {1e9, "16+"}}) {
    EXPECT_EQ(kJobSizeNames[JobSizeOf(Resource::kCpu, cores)], size) << cores;
    EXPECT_EQ(kJobSizeNames[JobSizeOf(Resource::kMemory, cores * kGiB)], size) << cores;
  }
}

TEST(RiskTable, ChancesAreHeldAgainstDaysOver) {
  RiskTable table;
  table.BeginDay(10);
  for (int i = 0; i < 99; ++i) table.Add(Day(kMemory, 0.02, i < 3));
  const RiskSums& sums = Recent(table, kMemory);
  EXPECT_EQ(sums.days, 99);
  EXPECT_EQ(sums.days_over, 3);
  EXPECT_NEAR(sums.promised, 1.98, 1e-12);
  EXPECT_NEAR(*PromisedShare(kMemory, sums), 0.02, 1e-12);
  // The delivered share includes one additional day with the promised outcome.
  EXPECT_NEAR(*DeliveredShare(kMemory, sums), 3.02 / 100, 1e-12);
  EXPECT_NEAR(sums.spread, 3 * 0.98 * 0.98 + 96 * 0.02 * 0.02, 1e-12);
}

TEST(RiskTable, SharesAreHeldAgainstWork) {
  RiskTable table;
  table.BeginDay(0);
  table.Add({.key = kCpu, .promised = 0.001, .over = true, .used = 1000, .cut = 5});
  table.Add({.key = kCpu, .promised = 0.001, .over = false, .used = 3000, .cut = 0});
  const RiskSums& sums = Recent(table, kCpu);
  EXPECT_NEAR(*PromisedShare(kCpu, sums), 0.001, 1e-12);
  // The delivered share includes one additional day with work of 2000 and the promised outcome.
  EXPECT_NEAR(*DeliveredShare(kCpu, sums), 7.0 / 6000, 1e-12);
  EXPECT_EQ(sums.days_over, 1);
}

TEST(RiskTable, WhatIsNotKnownIsAbsent) {
  RiskKey none = kMemory;
  none.promise = RiskPromise::kNone;
  EXPECT_EQ(PromisedShare(kMemory, {}), std::nullopt);
  EXPECT_EQ(DeliveredShare(kMemory, {}), std::nullopt);
  EXPECT_EQ(DeliveredShare(kCpu, {}), std::nullopt);
  RiskTable table;
  table.Add(Day(none, 0, false));
  EXPECT_EQ(PromisedShare(none, Recent(table, none)), std::nullopt);
  EXPECT_NEAR(*DeliveredShare(none, Recent(table, none)), 0.25, 1e-12) << "one day does not say never";
  // For CPU without a promise, the delivered share is a share of work.
  none.resource = Resource::kCpu;
  none.job_class = 0;
  table.Add({.key = none, .promised = 0, .over = true, .used = 100, .cut = 30});
  EXPECT_NEAR(*DeliveredShare(none, Recent(table, none)), 0.3, 1e-12);
  table.Add(Day(kCpu, 0.001, false));
  EXPECT_EQ(PromisedShare(kCpu, Recent(table, kCpu)), std::nullopt) << "no work";
  EXPECT_EQ(DeliveredShare(kCpu, Recent(table, kCpu)), std::nullopt);
}

TEST(RiskTable, OldDaysFadeAndLifetimeStays) {
  RiskTable table;
  table.BeginDay(100);
  table.Add(Day(kMemory, 0.5, true));
  const double spread = Recent(table, kMemory).spread;
  table.BeginDay(100 + static_cast<int32_t>(kRiskHalfLifeDays));
  EXPECT_NEAR(Recent(table, kMemory).days, 0.5, 1e-12);
  EXPECT_NEAR(Recent(table, kMemory).days_over, 0.5, 1e-12);
  EXPECT_NEAR(Recent(table, kMemory).promised, 0.25, 1e-12);
  EXPECT_NEAR(Recent(table, kMemory).spread, spread / 4, 1e-12);
  EXPECT_EQ(All(table, kMemory).days, 1);
  EXPECT_EQ(All(table, kMemory).promised, 0.5);
  // A wrong clock starts an earlier day: nothing ages, and later days count from the earlier day.
  table.BeginDay(90);
  EXPECT_NEAR(Recent(table, kMemory).days, 0.5, 1e-12);
  table.BeginDay(91);
  EXPECT_NEAR(Recent(table, kMemory).days, 0.5 * std::exp2(-1 / kRiskHalfLifeDays), 1e-12);
}

TEST(RiskTable, ABrokenPromiseIsNamed) {
  const auto broken = [](int days, int over) {
    RiskTable table;
    for (int i = 0; i < days; ++i) table.Add(Day(kMemory, 0.03, i < over));
    return BrokenPromises(table);
  };
  EXPECT_TRUE(broken(1000, 30).empty());
  EXPECT_TRUE(broken(1000, 36).empty()) << "a fifth more";
  EXPECT_TRUE(broken(1000, 42).empty()) << "within the error of 1000 days";
  EXPECT_EQ(broken(20'000, 840).size(), 1U) << "the same share of more days";
  EXPECT_TRUE(broken(299, 200).empty()) << "too few days";
  const std::vector<BrokenPromise> found = broken(1000, 80);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].total);
  const std::string text = BrokenText(found[0]);
  EXPECT_THAT(text,
              HasSubstr("memory limits that are in force (all jobs): 8 % of job-days were above the limit"));
  EXPECT_THAT(text, HasSubstr("3 % was stated (about 1000 job-days"));
}

TEST(RiskTable, AShareOfAllJobsIsPromisedOfNoSize) {
  RiskKey large = kCpu;
  large.size = 4;
  const auto add = [&](const RiskKey& key, double cut, RiskTable& table) {
    for (int i = 0; i < 1000; ++i)
      table.Add({.key = key, .promised = 0.01, .over = cut > 0, .used = 100, .cut = cut});
  };
  RiskTable table;
  add(kCpu, 0, table);
  add(large, 2, table);
  EXPECT_TRUE(BrokenPromises(table).empty()) << "together the order is kept";
  RiskTable worse;
  add(kCpu, 0, worse);
  add(large, 4, worse);
  ASSERT_EQ(BrokenPromises(worse).size(), 1U);
  EXPECT_TRUE(BrokenPromises(worse)[0].total);
  EXPECT_THAT(
      BrokenText(BrokenPromises(worse)[0]),
      HasSubstr(
          "CPU limits that are shown (all jobs): 2 % of the work were above the limit, 1 % was the risk target"));
  // A share promised for each job is a promise for each row, so a single row can be broken.
  RiskKey own = kCpu, own_large = large;
  own.promise = own_large.promise = RiskPromise::kJobShare;
  RiskTable jobs;
  add(own, 0, jobs);
  add(own_large, 2, jobs);
  ASSERT_EQ(BrokenPromises(jobs).size(), 1U);
  EXPECT_FALSE(BrokenPromises(jobs)[0].total);
  EXPECT_EQ(BrokenPromises(jobs)[0].key, own_large);
  EXPECT_THAT(BrokenText(BrokenPromises(jobs)[0]), HasSubstr("(class serving, 16+ cores)"));
}

TEST(RiskTable, TextsNeverSayNever) {
  EXPECT_EQ(RiskShareText(false, 0), "under 0.1 %");
  EXPECT_EQ(RiskShareText(false, 0.034), "3.4 %");
  EXPECT_EQ(RiskShareText(true, 0), "under 0.001 %");
  EXPECT_EQ(RiskShareText(true, 0.00034), "0.034 %");
}

TEST(RiskTable, PromisesAreOfTheRecommender) {
  WorkFunctionSettings settings;
  const auto of = [&](std::optional<double> chance, Policy policy, Resource r) {
    return StatedPromiseOf(chance, policy, r, settings);
  };
  EXPECT_EQ(of(0.02, Policy::kCombined, Resource::kMemory).promise, RiskPromise::kChance);
  EXPECT_EQ(of(0.02, Policy::kCombined, Resource::kMemory).share, 0.02);
  EXPECT_EQ(of({}, Policy::kCombined, Resource::kMemory).promise, RiskPromise::kNone);
  EXPECT_EQ(of({}, Policy::kMovingWindow, Resource::kCpu).promise, RiskPromise::kNone);
  EXPECT_EQ(of({}, Policy::kCombined, Resource::kCpu).promise, RiskPromise::kFleetShare);
  EXPECT_EQ(of({}, Policy::kCombined, Resource::kCpu).share, settings.cpu_throttled);
  settings.price = 5;
  EXPECT_EQ(of({}, Policy::kWorkFunction, Resource::kCpu).promise, RiskPromise::kNone)
      << "a price orders no share";
  settings.job_order = 0.02;
  EXPECT_EQ(of({}, Policy::kWorkFunction, Resource::kCpu).promise, RiskPromise::kJobShare);
  EXPECT_EQ(of({}, Policy::kWorkFunction, Resource::kCpu).share, 0.02);
}

rc::Gen<RiskDay> AnyRiskDay() {
  return rc::gen::exec([] {
    RiskDay day;
    day.key.resource = *rc::gen::element(Resource::kCpu, Resource::kMemory);
    day.key.set = *rc::gen::arbitrary<bool>();
    day.key.promise = static_cast<RiskPromise>(*rc::gen::inRange(0, 4));
    day.key.job_class = static_cast<uint8_t>(*rc::gen::inRange(0, 3));
    day.key.size = static_cast<JobSize>(*rc::gen::inRange(0, 5));
    day.promised = *rc::gen::inRange(0, 1000) / 1000.0;
    day.over = *rc::gen::arbitrary<bool>();
    day.used = *rc::gen::inRange(0, 100'000);
    day.cut = day.used * *rc::gen::inRange(0, 101) / 100.0;
    return day;
  });
}

RC_GTEST_PROP(RiskTable, SharesLieBetweenWhatCameAndWhatWasPromised, ()) {
  const auto days = *rc::gen::container<std::vector<RiskDay>>(AnyRiskDay());
  RiskTable table;
  int32_t today = 0;
  for (const RiskDay& day : days) {
    table.BeginDay(today += *rc::gen::inRange(0, 40));
    table.Add(day);
  }
  double all = 0;
  for (const auto& [key, row] : table.rows()) {
    all += row.all.days;
    for (const RiskSums& sums : {row.recent, row.all}) {
      RC_ASSERT(sums.days_over <= sums.days && sums.cut <= sums.used);
      const std::optional<double> promised = PromisedShare(key, sums), delivered = DeliveredShare(key, sums);
      if (promised.has_value()) RC_ASSERT(*promised >= 0 && *promised <= 1 + 1e-9);
      if (delivered.has_value()) RC_ASSERT(*delivered >= 0 && *delivered <= 1 + 1e-9);
    }
  }
  RC_ASSERT(all == static_cast<double>(days.size()));
  double totals = 0;
  for (const auto& [key, row] : table.Totals()) totals += row.all.days;
  RC_ASSERT(totals == all);
}

RC_GTEST_PROP(RiskTable, OutlivesAStop, ()) {
  const auto days = *rc::gen::container<std::vector<RiskDay>>(AnyRiskDay());
  RiskTable table;
  for (size_t i = 0; i < days.size(); ++i) {
    table.BeginDay(static_cast<int32_t>(i));
    table.Add(days[i]);
  }
  const std::string bytes = Bytes(table);
  RiskTable again;
  ByteReader in(bytes);
  RC_ASSERT(again.Load(in).ok() && in.remaining() == 0);
  RC_ASSERT(Bytes(again) == bytes);
  again.BeginDay(static_cast<int32_t>(days.size()));
  table.BeginDay(static_cast<int32_t>(days.size()));
  RC_ASSERT(Bytes(again) == Bytes(table));
  if (days.empty()) return;
  // Truncated bytes are rejected, and the table does not change.
  const auto cut = static_cast<size_t>(*rc::gen::inRange<int>(0, static_cast<int>(bytes.size())));
  ByteReader part(std::string_view(bytes).substr(0, cut));
  RC_ASSERT(!again.Load(part).ok());
  RC_ASSERT(Bytes(again) == Bytes(table));
}

TEST(RiskTable, ImpossibleSumsAreRefused) {
  RiskTable table;
  table.Add(Day(kMemory, 0.1, true));
  const std::string good = Bytes(table);
  for (size_t i = 4; i < good.size(); ++i) {
    for (const char value : {'\xff', '\x09'}) {
      std::string bytes = good;
      bytes[i] = value;
      RiskTable loaded;
      ByteReader in(bytes);
      if (!loaded.Load(in).ok()) {
        EXPECT_TRUE(loaded.rows().empty());
      }
      for (const auto& [key, row] : loaded.rows()) EXPECT_FALSE(key.class_name().empty());
    }
  }
}

// ---- An unfinished day ----

Signal Window(int32_t window, const std::vector<TaskUsage>& tasks) {
  return {.window = WindowId{window}, .buckets = {}, .tasks = tasks, .owner_limit = {}};
}

TEST(OpenRiskDay, CountsWhatEachTaskHadAboveItsLimit) {
  OpenRiskDay open;
  EXPECT_FALSE(open.is_of(3));
  open.Begin(3, kCpu, 0.001);
  EXPECT_TRUE(open.is_of(3));
  const std::vector<TaskUsage> tasks = {{0, 1, 1}, {1, 3, 3}};
  open.Add(Window(3 * kWindowsPerDay, tasks), 2, nullptr);
  Trial trial;
  trial.limit = 0.5;
  trial.members = {{0, ""}};
  open.Add(Window(3 * kWindowsPerDay + 1, tasks), 3, &trial);
  const RiskDay day = open.End();
  EXPECT_EQ(day.key, kCpu);
  EXPECT_TRUE(day.over);
  EXPECT_NEAR(day.used, 8 * kWindowSeconds, 1e-3);
  EXPECT_NEAR(day.cut, 1.5 * kWindowSeconds, 1e-3);
  EXPECT_FALSE(open.is_of(3)) << "it is closed";
}

TEST(OpenRiskDay, OutlivesAStop) {
  OpenRiskDay open;
  open.Begin(7, kMemory, 0.25);
  const std::vector<TaskUsage> tasks = {{0, 10, 12}};
  open.Add(Window(7 * kWindowsPerDay, tasks), 11, nullptr);
  std::string bytes;
  ByteWriter out(&bytes);
  open.Save(out);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    OpenRiskDay part;
    ByteReader in(std::string_view(bytes).substr(0, cut));
    EXPECT_FALSE(part.Load(in).ok()) << cut;
    EXPECT_FALSE(part.is_of(7));
  }
  OpenRiskDay again;
  ByteReader in(bytes);
  ASSERT_TRUE(again.Load(in).ok());
  EXPECT_EQ(in.remaining(), 0U);
  ASSERT_TRUE(again.is_of(7));
  again.AddOver();
  const RiskDay day = again.End();
  EXPECT_EQ(day.key, kMemory);
  EXPECT_EQ(day.promised, 0.25);
  EXPECT_TRUE(day.over);
  EXPECT_NEAR(day.used, 10 * kWindowSeconds, 1e-3);
  EXPECT_EQ(day.cut, 0) << "the mean was under the limit";
}

}  // namespace
}  // namespace taut::brain
