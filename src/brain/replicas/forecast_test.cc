// Tests of the forecast policy's own arithmetic, without its model: a young job's count, the adaptation of the
// price, and the greatest count. policies_test.cc tests properties that all policies share.
#include "brain/replicas/forecast.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "brain/replicas/reason_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int DecideAt(ForecastPolicy& policy, int64_t at_s, std::optional<double> load, int count, double capacity = 1,
             const LoadAnalogs* analogs = nullptr) {
  return policy.Decide({Timestamp::FromSeconds(at_s), load, capacity, count, 0, analogs});
}

TEST(Forecast, AYoungJobsCountIsThatOfItsHighestLoadOfFiveMinutes) {
  ForecastPolicy policy{ReplicaSettings()};
  EXPECT_EQ(DecideAt(policy, 0, 9.9, 3, 2), 10) << "at half of the capacity of 2 each";
  EXPECT_EQ(DecideAt(policy, 60, 10, 10, 2), 10);
  EXPECT_EQ(DecideAt(policy, 120, 10.5, 10, 2), 11);
  EXPECT_EQ(DecideAt(policy, 180, 4, 11, 2), 11);
  EXPECT_EQ(DecideAt(policy, 240, 5, 11, 2), 11);
  EXPECT_EQ(DecideAt(policy, 419, 1, 11, 2), 11) << "299 s after the highest";
  EXPECT_EQ(DecideAt(policy, 420, 1, 11, 2), 5) << "of 240 s";
  EXPECT_EQ(DecideAt(policy, 480, std::nullopt, 5, 2), 5) << "not measured: as it is";
  EXPECT_THAT(SentenceOf(policy), HasSubstr("was not measured, so the count stays 5"));
  EXPECT_EQ(DecideAt(policy, 2000, 1, 5, 2), 1);
  EXPECT_THAT(SentenceOf(policy),
              HasSubstr("There are 0.1 h of history and a forecast needs 24 h: 1 task to"));
  EXPECT_THAT(SentenceOf(policy), HasSubstr("keep the highest load of 5 min at 50 %"));
  EXPECT_EQ(policy.Forecast(), std::nullopt);
}

TEST(Forecast, AYoungJobsCountStaysWithinItsBounds) {
  ReplicaSettings s;
  s.bounds = {.min = 3, .max = 6};
  ForecastPolicy policy(s);
  EXPECT_EQ(DecideAt(policy, 0, 0.1, 3), 3);
  EXPECT_EQ(DecideAt(policy, 60, 50, 3), 6);
  EXPECT_EQ(DecideAt(policy, 120, std::nullopt, 9), 6);
}

// A young job has the count with the least sum of tasks and price * chance of overload, computed from the load
// changes of other jobs.
TEST(Forecast, AYoungJobGoesByTheMovesOfOthers) {
  LoadMoves moves;
  for (int i = 0; i < 3000; ++i) moves.Add(1, i % 100 == 0 ? 3.1 : i % 10 == 0 ? 1.4 : 1);
  LoadAnalogs analogs;
  analogs.Take(moves);
  ASSERT_TRUE(analogs.is_known());
  for (const double load : {4.0, 20.0, 90.0}) {
    ReplicaSettings s;
    ForecastPolicy policy(s);
    const int count = DecideAt(policy, 0, load, 10, 2, &analogs);
    const double least = load / 2 / s.max_utilization;
    const double price = 0.02 * std::max(load / 2, 1.0) / s.forecast.overloaded;
    const auto cost = [&](double n) { return n + price * analogs.ChanceAbove(n / least); };
    int best = static_cast<int>(std::ceil(least));
    for (int n = best; n <= 16 * least + 1; ++n) best = cost(n) < cost(best) ? n : best;
    EXPECT_EQ(count, best) << load;
    EXPECT_EQ(count > std::ceil(least), load > 4) << load;
    EXPECT_NEAR(*FactOf(policy, "chance of overload"), 100 * analogs.ChanceAbove(count / least), 1e-9);
    Reason reason;
    policy.Explain(reason);
    EXPECT_NEAR(reason.chance.value_or(0), analogs.ChanceAbove(count / least), 1e-9);
    EXPECT_THAT(SentenceOf(policy), HasSubstr("moves as those of the other jobs do"));
  }
  ForecastPolicy idle{ReplicaSettings()};
  EXPECT_EQ(DecideAt(idle, 0, 0, 10, 2, &analogs), 1) << "of no load there are no moves";
  EXPECT_THAT(SentenceOf(idle), HasSubstr("keep the highest load of 5 min"));
}

// Checks the price in each minute with a forecast. Five tasks are busy per minute, but 40 in the first minute,
// which makes counts above the running count useful. Every `every` minutes only 6 tasks are ready.
void CheckPrices(double ordered, int every, double fall, double rise) {
  constexpr double kFirst = 40;
  constexpr double kTasks = 5;
  ReplicaSettings s;
  s.forecast.min_history_s = 600;
  s.forecast.overloaded = ordered;
  ForecastPolicy policy(s);
  double log_price = std::log(0.02);
  int count = DecideAt(policy, 0, 2 * kFirst, 30, 2);
  for (int m = 1; m < 200; ++m) {
    const int ready = m > 100 && m % every == 0 ? std::min(count, 6) : count;
    const bool overloaded = kTasks > 0.8 * ready;
    count = policy.Decide({Timestamp::FromSeconds(60 * m), 2 * kTasks, 2, ready, count - ready, nullptr});
    if (m < 9) {
      EXPECT_EQ(FactOf(policy, "price of an overloaded minute"), std::nullopt) << m;
      continue;
    }
    log_price += overloaded ? rise : -fall;
    const double mean = (kFirst + m * kTasks) / (m + 1);
    ASSERT_NEAR(*FactOf(policy, "price of an overloaded minute") / (std::exp(log_price) * mean / ordered), 1,
                1e-6)
        << m;
  }
}

// The price is exp(log price) * mean tasks / target share, in task-minutes. The price falls a little per
// minute. At the target share, an overloaded minute compensates the falls since the last overload.
TEST(Forecast, ThePriceFollowsTheOrder) { CheckPrices(0.02, 20, 0.001, 0.001 * (1 / 0.02 - 1)); }

// With a small target share, a single overloaded minute must not raise the price strongly.
TEST(Forecast, ThePriceRisesByATenthAtMost) { CheckPrices(0.001, 50, 0.0001, 0.1 - 0.0001); }

// If another program or a bound determined the count, an overload does not change the price.
TEST(Forecast, ThePriceIsNotLearntFromCountsOfOthersOrAtABound) {
  ReplicaSettings s;
  s.forecast.min_history_s = 600;
  s.forecast.overloaded = 0.02;
  const double first = 0.02 * 5 / 0.02;
  ForecastPolicy others(s);
  for (int m = 0; m < 100; ++m) {
    (void)DecideAt(others, 60 * m, 5, 30);
    (void)DecideAt(others, 60 * m + 30, 50, 30);  // a second call in one minute has no effect on the model
  }
  EXPECT_NEAR(*FactOf(others, "price of an overloaded minute"), first, 1e-9);
  s.bounds = {.min = 6, .max = 6};
  ForecastPolicy bound(s);
  int count = 5;
  for (int m = 0; m < 100; ++m) count = DecideAt(bound, 60 * m, 5, count);
  EXPECT_EQ(count, 6);
  EXPECT_NEAR(*FactOf(bound, "price of an overloaded minute"), first, 1e-9)
      << "always overloaded, and no price helps";
}

TEST(Forecast, ASteadyLoadIsExpectedToStay) {
  ReplicaSettings s;
  s.forecast.min_history_s = 3600;
  s.startup_s = 150;  // 150 s are three steps
  ForecastPolicy policy(s);
  int count = 20;
  for (int m = 0; m < 1440; ++m) count = DecideAt(policy, 60 * m, 12, count, 2);
  const LoadBand band = *policy.Forecast();
  EXPECT_EQ(band.at.us, Timestamp::FromSeconds(60 * 1439 + 180).us);
  EXPECT_NEAR(band.low, 12, 0.3);
  EXPECT_NEAR(band.high, 12, 0.3);
  EXPECT_LE(band.low, band.high);
  EXPECT_NEAR(*FactOf(policy, "expected load"), 12, 0.3);
  EXPECT_EQ(count, 8) << "6 busy tasks at 80 %";
  EXPECT_EQ(FactOf(policy, "count with the least cost"), 8);
  EXPECT_THAT(SentenceOf(policy), HasSubstr("a load of 12 is expected (now 12); 8 tasks"));
  Reason reason;
  policy.Explain(reason);
  ASSERT_TRUE(reason.chance.has_value());
  EXPECT_LT(*reason.chance, 0.05);
  EXPECT_THAT(SentenceOf(policy), HasSubstr("would be above 80 % utilisation with a chance"));
  EXPECT_THAT(SentenceOf(policy), Not(HasSubstr("would do")));
  // Nobody wanted a ninth task for a day, so it stops at once. A count that is too low is raised at once.
  EXPECT_EQ(DecideAt(policy, 60 * 1440, 12, 9, 2), 8);
  EXPECT_EQ(DecideAt(policy, 60 * 1441, 12, 4, 2), 8);
  // A new job waits for about the price of a start before the first stop.
  int minutes = 0;
  for (; minutes < 60; ++minutes) {
    if (DecideAt(policy, 60 * (1442 + minutes), 9, 8, 2) == 6) break;
    EXPECT_THAT(SentenceOf(policy), HasSubstr("would do"));
  }
  EXPECT_GE(minutes, 8);
  EXPECT_LE(minutes, 20);
}

TEST(Forecast, GoesOnFromACheckpoint) {
  ReplicaSettings s;
  s.forecast.min_history_s = 3600;
  ForecastPolicy policy(s);
  int count = 20;
  for (int m = 0; m < 300; ++m) count = DecideAt(policy, 60 * m, 12 + m % 5, count, 2);
  std::string bytes;
  ByteWriter out(&bytes);
  policy.Save(out);
  ForecastPolicy again(s);
  ByteReader in(bytes);
  ASSERT_TRUE(again.Load(in).ok());
  EXPECT_EQ(in.remaining(), 0U);
  EXPECT_EQ(SentenceOf(again), SentenceOf(policy));
  // The last minute is repeated, as after a restart, although the saved state includes this minute.
  EXPECT_EQ(DecideAt(again, 60 * 299 + 30, 15, count, 2), DecideAt(policy, 60 * 299 + 30, 15, count, 2));
  std::string bytes_again;
  std::string bytes_now;
  ByteWriter out_again(&bytes_again);
  again.Save(out_again);
  ByteWriter out_now(&bytes_now);
  policy.Save(out_now);
  EXPECT_EQ(bytes_again, bytes_now);
}

TEST(Forecast, AYoungJobThatGoesByOthersSaysHowYoungItIs) {
  LoadMoves moves;
  for (int i = 0; i < 3000; ++i) moves.Add(1, 1);
  LoadAnalogs analogs;
  analogs.Take(moves);
  ForecastPolicy policy{ReplicaSettings()};
  for (int m = 0; m < 90; ++m) (void)DecideAt(policy, 60 * m, 4, 5, 1, &analogs);
  EXPECT_THAT(SentenceOf(policy),
              HasSubstr("There are 1.5 h of history and a forecast needs 24 h. If the load 4"));
}

// Other jobs' loads mostly halve, but the job must still have enough tasks for its current load.
TEST(Forecast, AYoungJobHasAtLeastTheTasksOfItsLoadAndAtMostItsBound) {
  LoadMoves moves;
  for (int i = 0; i < 3000; ++i) moves.Add(1, i % 100 == 0 ? 1.35 : 0.5);
  LoadAnalogs analogs;
  analogs.Take(moves);
  const auto count = [&](int max) {
    ReplicaSettings s;
    s.bounds.max = max;
    s.forecast.overloaded = 0.0002;
    ForecastPolicy policy(s);
    return DecideAt(policy, 0, 10, 10, 1, &analogs);
  };
  const int most = count(1000);
  EXPECT_GT(most, 1.3 * 12.5) << "for a rise by a third";
  EXPECT_EQ(count(most), most);
  EXPECT_EQ(count(15), 13) << "15 help no more, so the least";
}

// Returns the factor by which one more decision changes the price, `hours` after a load of 40 tasks. The minimum
// is 31 tasks.
double PriceMove(double hours, double load, int ready) {
  ReplicaSettings s;
  s.step_s = 900;
  s.forecast.min_history_s = 3600;
  s.bounds = {.min = 31, .max = 1000};
  ForecastPolicy policy(s);
  int count = DecideAt(policy, 0, 40, 30);
  const int last = static_cast<int>(hours * 4);
  for (int step = 1; step < last; ++step) count = DecideAt(policy, 900 * step, 5, count);
  EXPECT_EQ(count, 31);
  const double before = *FactOf(policy, "price of an overloaded minute");
  (void)policy.Decide({Timestamp::FromSeconds(900 * last), load, 1, ready, count - ready, nullptr});
  return *FactOf(policy, "price of an overloaded minute") / before;
}

// A task is started only if its own gain exceeds the cost of the start; the gain of all tasks does not count.
TEST(Forecast, AStartThatCostsMoreThanItGainsIsNotMade) {
  const auto after_a_day = [](double change_price) {
    ReplicaSettings s;
    s.forecast.min_history_s = 3600;
    s.forecast.change_price = change_price;
    ForecastPolicy policy(s);
    for (int m = 0; m < 1440; ++m) (void)DecideAt(policy, 60 * m, 12, 8, 2);
    return std::pair(DecideAt(policy, 60 * 1440, 12, 7, 2), *FactOf(policy, "price of an overloaded minute"));
  };
  const auto [count, price] = after_a_day(8);
  EXPECT_EQ(count, 8);
  ASSERT_GT(price, 20);
  // The eighth task costs 1 and prevents a certain overload, whose cost is the price.
  const double gain = price - 1;
  EXPECT_EQ(after_a_day((gain - 7) / 0.2).first, 8);
  EXPECT_EQ(after_a_day((gain + 7) / 0.2).first, 7);
}

// The greatest useful count is the count that runs at a utilisation of 80 % under 1.25 times the highest
// load. The highest load halves in two weeks.
TEST(Forecast, TheHighestLoadIsHalfAsHighAfterTwoWeeks) {
  EXPECT_GT(PriceMove(14 * 24, 5, 1), 1.04) << "31 tasks are less than 20 / 0.8 * 1.25";
  EXPECT_NEAR(PriceMove(14 * 24, 5, 31), 1, 0.01) << "not overloaded";
  EXPECT_NEAR(PriceMove(14.5 * 24, 5, 1), 1, 0.001) << "no price helps";
}

TEST(Forecast, AtItsUtilisationATaskIsNotOverloaded) {
  ReplicaSettings s;
  s.forecast.min_history_s = 600;
  s.forecast.overloaded = 0.02;
  s.bounds = {.min = 5, .max = 5};
  ForecastPolicy policy(s);
  for (int m = 0; m < 109; ++m) (void)DecideAt(policy, 60 * m, 4, m == 0 ? 4 : 5);
  EXPECT_NEAR(*FactOf(policy, "price of an overloaded minute"), 0.02 * 4 / 0.02 * std::exp(-0.1), 1e-6);
}

TEST(Forecast, ThePriceHasItsMost) {
  ReplicaSettings s;
  s.forecast.min_history_s = 600;
  s.bounds = {.min = 31, .max = 1000};
  ForecastPolicy policy(s);
  constexpr int kMinutes = 400;
  int count = 30;
  for (int m = 0; m < kMinutes; ++m) {
    const int ready = m > 10 ? 1 : count;
    count =
        policy.Decide({Timestamp::FromSeconds(60 * m), m == 0 ? 40 : 5, 1, ready, count - ready, nullptr});
  }
  const double mean = (40 + 5.0 * (kMinutes - 1)) / kMinutes;
  EXPECT_NEAR(*FactOf(policy, "price of an overloaded minute") / (1e3 * mean / s.forecast.overloaded), 1,
              1e-6);
}

// Returns the load of a job in tasks: 40 from 12:00 to 14:00, else 4.
double NoonLoad(int minute) { return minute % 1440 >= 720 && minute % 1440 < 840 ? 40 : 4; }

TEST(Forecast, StartsTasksAheadOfTheDailyRiseAndKeepsThemToTheFall) {
  ReplicaSettings s;
  s.startup_s = 1800;
  ForecastPolicy policy(s);
  int count = 5;
  int minute = 0;
  const auto go_to = [&](int to) {
    for (; minute < to; ++minute) count = DecideAt(policy, 60 * minute, NoonLoad(minute), count);
  };
  go_to(1440);
  EXPECT_THAT(SentenceOf(policy), HasSubstr("is expected (now 4)"));
  EXPECT_THAT(SentenceOf(policy), Not(HasSubstr("days load rose"))) << "there was none before";
  go_to(5 * 1440 + 600);
  const int early = count;
  go_to(5 * 1440 + 705);
  EXPECT_GT(count, early) << "a quarter of an hour before";
  EXPECT_GT(*FactOf(policy, "expected load"), 20);
  EXPECT_GT(policy.Forecast()->high, 36);
  go_to(5 * 1440 + 721);
  EXPECT_THAT(SentenceOf(policy), HasSubstr("On 5 of the last 5 days load rose by more than"));
  EXPECT_THAT(SentenceOf(policy), Not(HasSubstr("more than 0 %")));
  go_to(5 * 1440 + 835);
  EXPECT_GE(count, 50) << "when the fall is expected";
  EXPECT_LT(*FactOf(policy, "expected load"), 8);
  go_to(5 * 1440 + 860);
  EXPECT_LT(count, 10);
}

// A zero load counts as 2 % of the mean load, because its logarithm would only be noise.
TEST(Forecast, NoLoadCountsAsAFiftiethOfTheMean) {
  ReplicaSettings s;
  s.forecast.min_history_s = 600;
  ForecastPolicy policy(s);
  for (int m = 0; m < 300; ++m) (void)DecideAt(policy, 60 * m, m < 200 ? 10 : 0, 12);
  const double expected = *FactOf(policy, "expected load");
  EXPECT_GT(expected, 0.02 * 6.7 / 2);
  EXPECT_LT(expected, 0.02 * 6.7 * 3);
}

std::string BytesOf(const ForecastPolicy& policy) {
  std::string bytes;
  ByteWriter out(&bytes);
  policy.Save(out);
  return bytes;
}

// A loaded policy equals the saved policy in every field, right after the last decision.
TEST(Forecast, EachValueComesBack) {
  ReplicaSettings s;
  s.forecast.min_history_s = 3600;
  // At a count of 4, too few tasks run because another program set the count. At 9, too many tasks run, but a
  // stop is not yet worth its cost.
  for (const int last : {4, 9}) {
    ForecastPolicy policy(s), again(s);
    int count = 20;
    for (int m = 0; m < 300; ++m) count = DecideAt(policy, 60 * m, 12, count, 2);
    (void)DecideAt(policy, 60 * 300, 12, last, 2);
    const std::string bytes = BytesOf(policy);
    ByteReader in(bytes);
    ASSERT_TRUE(again.Load(in).ok());
    EXPECT_EQ(BytesOf(again), bytes);
    EXPECT_EQ(again.Forecast()->at.us, policy.Forecast()->at.us);
    EXPECT_EQ(FactOf(again, "count with the least cost"), FactOf(policy, "count with the least cost"));
  }
  ForecastPolicy fresh(s), again(s);
  const std::string bytes = BytesOf(fresh);
  ByteReader in(bytes);
  ASSERT_TRUE(again.Load(in).ok());
  EXPECT_EQ(BytesOf(again), bytes);
}

// The state of the version before idle runs: without their state and with one more number.
TEST(Forecast, ReadsTheStateOfTheVersionBefore) {
  const ForecastPolicy fresh{ReplicaSettings()};
  const std::string bytes = BytesOf(fresh);
  std::string added;
  ByteWriter out(&added);
  IdleRuns().Save(out);
  StartPrice().Save(out);
  constexpr size_t kAfterTheNumber = 2 * 8 + 1 + 3 + 2 * 8 + 2 * 4;
  const size_t at = bytes.size() - added.size() - kAfterTheNumber;
  std::string before = bytes.substr(0, at) + std::string(8, '\0') + bytes.substr(at, kAfterTheNumber);
  before[0] = static_cast<char>(-2);
  ForecastPolicy policy{ReplicaSettings()};
  ByteReader in(before);
  ASSERT_TRUE(policy.Load(in).ok());
  EXPECT_EQ(in.remaining(), 0U);
  EXPECT_EQ(BytesOf(policy), bytes);
}

TEST(Forecast, TheStateOfOtherStepsIsRefused) {
  const auto load = [](double step_s, double startup_s, int version) {
    std::string bytes = BytesOf(ForecastPolicy{ReplicaSettings()});
    bytes[0] = static_cast<char>(version);
    ReplicaSettings s;
    s.step_s = step_s;
    s.startup_s = startup_s;
    ForecastPolicy policy(s);
    ByteReader in(bytes);
    return policy.Load(in).code();
  };
  EXPECT_EQ(load(60, 120, -3), absl::StatusCode::kOk);
  EXPECT_EQ(load(60, 180, -3), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(load(120, 240, -3), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(load(60, 120, -4), absl::StatusCode::kInvalidArgument);
}

TEST(Forecast, CountsTheBytesOfItsState) {
  ForecastPolicy policy{ReplicaSettings()};
  const size_t before = policy.state_bytes();
  EXPECT_NEAR(static_cast<double>(before), 59 * 1024, 1024);
  // The policy stores each count of the last five minutes, because with a falling load each count can become the
  // highest.
  for (int n = 0; n < 200; ++n) (void)DecideAt(policy, n, 500 - n, 1);
  EXPECT_GE(policy.state_bytes(), before + 200 * 2 * sizeof(int64_t));
}

}  // namespace
}  // namespace taut::brain
