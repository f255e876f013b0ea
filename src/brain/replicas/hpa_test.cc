// Tests the arithmetic of the HorizontalPodAutoscaler against a table of the published algorithm.
#include "brain/replicas/hpa.h"

#include "brain/replicas/hpa_rates.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

struct HpaCase {
  const char* what;
  int current;
  HpaPods pods;
  double target, tolerance;
  int count;
};

TEST(HpaMath, ProposesAsPublished) {
  const HpaCase cases[] = {
      {"at the target", 3, {{0.8, 0.8, 0.8}}, 0.8, 0.1, 3},
      {"within the tolerance above", 10, {std::vector<double>(10, 0.77)}, 0.7, 0.1, 10},
      {"beyond the tolerance above", 10, {std::vector<double>(10, 0.78)}, 0.7, 0.1, 12},
      {"within the tolerance below", 10, {std::vector<double>(10, 0.72)}, 0.8, 0.1, 10},
      {"beyond the tolerance below", 10, {std::vector<double>(10, 0.71)}, 0.8, 0.1, 9},
      {"twice the target doubles", 4, {std::vector<double>(4, 1.0)}, 0.5, 0.1, 8},
      {"half the target halves", 4, {std::vector<double>(4, 0.25)}, 0.5, 0.1, 2},
      {"rounded up", 3, {{0.3, 0.5, 0.7}}, 0.3, 0.1, 5},
      {"rounded up going down", 5, {std::vector<double>(5, 0.2)}, 0.5, 0.1, 2},
      {"no usage gives none", 5, {std::vector<double>(5, 0.0)}, 0.5, 0.1, 0},
      {"per cents are rounded down", 10, {std::vector<double>(10, 0.5599)}, 0.5, 0.1, 10},
      {"zero tolerance", 10, {std::vector<double>(10, 0.81)}, 0.8, 0, 11},
      {"wide tolerance", 10, {std::vector<double>(10, 1.1)}, 0.8, 0.5, 10},
      {"no metric keeps", 7, {{}, 2, 1}, 0.5, 0.1, 7},
      {"scale by the ready pods alone", 6, {{0.2, 0.2, 0.2}, 3, 0}, 0.5, 0.1, 2},
      {"unready count 0 going up", 4, {{1.0, 1.0}, 2, 0}, 0.5, 0.1, 4},
      {"unready count 0 going up, still up", 3, {{0.9, 0.9}, 1, 0}, 0.3, 0.1, 6},
      {"unready turn the direction: keep", 4, {{0.6}, 3, 0}, 0.5, 0.1, 4},
      {"unready do not matter at the target", 3, {{0.5, 0.5}, 1, 0}, 0.5, 0.1, 3},
      {"missing count 100 % going down", 4, {{0.2, 0.2, 0.2}, 0, 1}, 0.5, 0.1, 4},
      {"missing count 100 % going down, still down", 4, {{0.1, 0.1, 0.1}, 0, 1}, 0.5, 0.1, 3},
      {"missing turn the direction: keep", 3, {{0.2, 0.2}, 0, 1}, 0.3, 0.1, 3},
      {"missing count 0 going up", 3, {{0.9, 0.9}, 0, 1}, 0.3, 0.1, 6},
      {"missing make it fall within the tolerance", 3, {{0.75, 0.75}, 0, 1}, 0.5, 0.1, 3},
      {"missing count the target where it is above 100 %", 4, {{0.9, 0.9, 0.9}, 0, 1}, 1.5, 0.1, 3},
      {"both going up", 4, {{1.0, 1.0}, 1, 1}, 0.2, 0.1, 10},
      {"missing and unready going down: unready left out", 5, {{0.1, 0.1, 0.1}, 1, 1}, 0.5, 0.1, 3},
      {"not above the current going down", 2, {{0.1, 0.1, 0.1, 0.1}, 0, 1}, 0.4, 0.1, 2},
      {"not below the current going up", 20, {{0.9, 0.9}, 0, 1}, 0.3, 0.1, 20},
      {"where all is known, below the current going up", 20, {{0.9, 0.9}, 0, 0}, 0.3, 0.1, 6},
      {"unready make it fall within the tolerance", 2, {{0.75, 0.75}, 1, 0}, 0.5, 0.1, 2},
      {"missing do not matter at the target", 3, {{0.5, 0.5}, 0, 1}, 0.5, 0.1, 3},
      {"missing count the target of three requests", 2, {{0.3}, 0, 1}, 3, 0.1, 2},
  };
  for (const HpaCase& c : cases) {
    EXPECT_EQ(ProposeHpa(c.current, c.pods, c.target, c.tolerance).count, c.count) << c.what;
  }
}

TEST(HpaMath, WithoutAMetricTheCountIsKeptAndNotKnown) {
  EXPECT_FALSE(ProposeHpa(7, {{}, 2, 1}, 0.5, 0.1).known);
  EXPECT_TRUE(ProposeHpa(7, {{0.5}, 2, 1}, 0.5, 0.1).known);
}

TEST(HpaMath, WindowsTakeTheRecommendationNearestToTheCount) {
  struct {
    const char* what;
    int current, desired;
    std::vector<HpaAdvice> past;
    double up_s, down_s;
    int count;
  } const cases[] = {
      {"up at once", 3, 9, {}, 0, 300, 9},
      {"down after the highest of the window", 9, 3, {{800, 7}, {900, 5}}, 0, 300, 7},
      {"what is at the window's edge is out", 9, 3, {{700, 8}, {900, 5}}, 0, 300, 5},
      {"what is at the window's edge is out going up", 3, 9, {{700, 4}, {900, 5}}, 300, 0, 5},
      {"no window down", 9, 3, {{999, 8}}, 0, 0, 3},
      {"up to the lowest of the window", 3, 9, {{900, 5}, {950, 7}}, 300, 0, 5},
      {"between the two it stays", 6, 4, {{900, 8}}, 300, 300, 6},
      {"past higher advice does not raise", 5, 3, {{900, 8}}, 0, 300, 5},
  };
  for (const auto& c : cases)
    EXPECT_EQ(StabilizeHpa(1000, c.current, c.desired, c.past, c.up_s, c.down_s), c.count) << c.what;
}

TEST(HpaMath, RatesLimitTheChangeWithinAPeriod) {
  using U = HpaRate::Unit;
  const HpaSettings defaults;
  struct {
    const char* what;
    bool up;
    int current;
    std::vector<HpaChange> ups, downs;
    HpaDirection rules;
    int limit;
  } const cases[] = {
      {"default: 4 pods", true, 1, {}, {}, defaults.up, 5},
      {"default: double", true, 10, {}, {}, defaults.up, 20},
      {"default: by what was at the period's start", true, 10, {{990, 5}}, {}, defaults.up, 10},
      {"added before the period", true, 10, {{985, 5}}, {}, defaults.up, 20},
      {"removed within the period", true, 10, {}, {{995, 10}}, defaults.up, 40},
      {"least of the policies",
       true,
       10,
       {},
       {},
       {0, HpaSelect::kMin, {{U::kPercent, 100, 60}, {U::kPods, 4, 60}}},
       14},
      {"disabled", true, 10, {}, {}, {0, HpaSelect::kDisabled, {{U::kPods, 4, 60}}}, 10},
      {"per cent rounded up", true, 3, {}, {}, {0, HpaSelect::kMax, {{U::kPercent, 10, 60}}}, 4},
      {"never below the count", true, 10, {{990, 9}}, {}, {0, HpaSelect::kMax, {{U::kPods, 4, 60}}}, 10},
      {"default: all", false, 10, {}, {}, defaults.down, 0},
      {"down by pods", false, 10, {}, {}, {300, HpaSelect::kMax, {{U::kPods, 3, 60}}}, 7},
      {"down by pods, some gone", false, 10, {}, {{990, 2}}, {300, HpaSelect::kMax, {{U::kPods, 3, 60}}}, 9},
      {"down by pods, some added", false, 10, {{990, 4}}, {}, {300, HpaSelect::kMax, {{U::kPods, 2, 60}}}, 4},
      {"down by per cent, rounded down",
       false,
       9,
       {},
       {},
       {300, HpaSelect::kMax, {{U::kPercent, 10, 60}}},
       8},
      {"greatest change",
       false,
       10,
       {},
       {},
       {0, HpaSelect::kMax, {{U::kPercent, 50, 60}, {U::kPods, 2, 60}}},
       5},
      {"least change",
       false,
       10,
       {},
       {},
       {0, HpaSelect::kMin, {{U::kPercent, 50, 60}, {U::kPods, 2, 60}}},
       8},
      {"down disabled", false, 10, {}, {}, {0, HpaSelect::kDisabled, {{U::kPods, 2, 60}}}, 10},
      {"never above the count",
       false,
       10,
       {{990, 5}},
       {{991, 8}},
       {0, HpaSelect::kMax, {{U::kPods, 2, 60}}},
       10},
  };
  for (const auto& c : cases) {
    const int limit = c.up ? HpaUpLimit(1000, c.current, c.ups, c.downs, c.rules)
                           : HpaDownLimit(1000, c.current, c.ups, c.downs, c.rules);
    EXPECT_EQ(limit, c.limit) << c.what;
  }
}

LoadSample LoadAt(int minute, std::optional<double> load, int ready, int starting = 0) {
  return {Timestamp::FromSeconds(minute * 60), load, 1.0, ready, starting};
}

TEST(Hpa, GoesUpAtOnceAndDownAfterFiveMinutes) {
  HpaPolicy hpa(HpaSettings{}, ReplicaBounds{});
  EXPECT_EQ(hpa.Decide(LoadAt(0, 8, 10)), 10);
  EXPECT_EQ(hpa.Decide(LoadAt(1, 16, 10)), 20);
  for (int m = 2; m < 6; ++m) EXPECT_EQ(hpa.Decide(LoadAt(m, 4, 20)), 20) << m;
  EXPECT_EQ(hpa.Decide(LoadAt(6, 4, 20)), 5);
  Reason reason;
  hpa.Explain(reason);
  EXPECT_EQ(reason.sentence,
            "Utilisation is 0.25 times the target of 80 %: 5 tasks for the load, 5 after the stabilisation "
            "window, 5 within the rate limits.");
}

TEST(HpaRates, AreOneLine) {
  HpaSettings settings;
  EXPECT_EQ(HpaRatesText(settings.up), "max of 100% per 15s; 4 pods per 15s");
  EXPECT_EQ(HpaRatesText(settings.down), "100% per 15s");
  HpaDirection read;
  for (const char* text :
       {"min of 10% per 1m; 2 pods per 90s", "1 pods per 30m", "disabled", "200% per 1s"}) {
    ASSERT_TRUE(ParseHpaRates(text, read).ok()) << text;
    EXPECT_EQ(HpaRatesText(read), text);
  }
  ASSERT_TRUE(ParseHpaRates(" max of  1 pod per 5m ;3 % per 1m", read).ok());
  EXPECT_EQ(HpaRatesText(read), "max of 1 pods per 5m; 3% per 1m");
  for (const char* text :
       {"", "4 pods", "4 per 15s", "0% per 15s", "-1 pods per 15s", "10% per 0s", "10% per 2h",
        "10% per 15s;", "1.5% per 15s", "most of 1% per 1m", "4 pods per", "99999999999% per 1s"}) {
    const HpaDirection before = read;
    const absl::Status s = ParseHpaRates(text, read);
    EXPECT_TRUE(absl::IsInvalidArgument(s)) << text;
    EXPECT_EQ(HpaRatesText(read), HpaRatesText(before));
  }
  ReplicaSettings all;
  EXPECT_EQ(SetReplicaSetting("hpa.down", "1 pod per h", all).message(),
            "hpa.down: invalid rate \"1 pod per h\": expected N% or N pods, N from 1 to 1000000, and a time "
            "up to 30m, as in \"max of 100% per 15s; 4 pods per 15s\"; or \"disabled\"");
}

TEST(HpaRates, AreTenOfAMillionAtMost) {
  HpaDirection read;
  EXPECT_TRUE(ParseHpaRates("1000000 pods per 30m", read).ok());
  EXPECT_FALSE(ParseHpaRates("1000001 pods per 30m", read).ok());
  EXPECT_FALSE(ParseHpaRates("1 pods per 1801s", read).ok());
  std::string ten = "1 pods per 1s";
  for (int i = 2; i <= 10; ++i) ten += "; 1 pods per 1s";
  EXPECT_TRUE(ParseHpaRates(ten, read).ok());
  EXPECT_EQ(read.rates.size(), 10U);
  EXPECT_EQ(ParseHpaRates(ten + "; 1 pods per 1s", read).message(), "11 rates: expected at most 10");
}

TEST(Hpa, AddsAndRemovesTasksAsFastAsItsRatesSay) {
  ReplicaSettings s;
  ASSERT_TRUE(SetReplicaSetting("hpa.up", "min of 100% per 1m; 3 pods per 2m", s).ok());
  ASSERT_TRUE(SetReplicaSetting("hpa.down", "disabled", s).ok());
  HpaPolicy hpa(s.hpa, ReplicaBounds());
  EXPECT_EQ(hpa.Decide(LoadAt(0, 40, 10)), 13);
  EXPECT_EQ(hpa.Decide(LoadAt(1, 40, 13)), 13) << "three in two minutes";
  EXPECT_EQ(hpa.Decide(LoadAt(2, 40, 13)), 16);
  for (int m = 3; m < 20; ++m) EXPECT_EQ(hpa.Decide(LoadAt(m, 1, 16)), 16) << m;
}

}  // namespace
}  // namespace taut::brain
