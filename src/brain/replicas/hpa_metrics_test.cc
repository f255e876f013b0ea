// Tests of several metrics of a HorizontalPodAutoscaler against tables of the published rules.
#include "brain/replicas/hpa_metrics.h"

#include <cmath>

#include "brain/replicas/hpa.h"
#include "brain/replicas/policies.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kSignals = {"queue_length", "lag"};

TEST(HpaMetrics, ValuesOfEachTaskAndOfAllAsPublished) {
  struct {
    const char* what;
    int current;
    double value, target;
    int count;
  } const each[] = {
      {"at the target", 4, 120, 30, 4},    {"within the tolerance above", 10, 329, 30, 10},
      {"beyond it", 10, 331, 30, 12},      {"within the tolerance below", 10, 271, 30, 10},
      {"beyond it", 10, 269, 30, 9},       {"rounded up", 4, 301, 30, 11},
      {"nothing gives none", 4, 0, 30, 0}, {"from zero", 0, 61, 30, 3},
  };
  for (const auto& c : each)
    EXPECT_EQ(ProposeHpaAverageValue(c.current, c.value, c.target, 0.1), c.count) << c.what;
  struct {
    const char* what;
    int current, ready;
    double value, target;
    int count;
  } const all[] = {
      {"at the target", 4, 4, 500, 500, 4},       {"within the tolerance", 4, 4, 549, 500, 4},
      {"of the ready tasks", 6, 4, 1000, 500, 8}, {"half", 4, 4, 250, 500, 2},
      {"rounded up", 3, 3, 700, 500, 5},          {"from zero", 0, 0, 1200, 500, 3},
  };
  for (const auto& c : all)
    EXPECT_EQ(ProposeHpaValue(c.current, c.ready, c.value, c.target, 0.1), c.count) << c.what;
}

// As published, abs(1 - ratio) <= tolerance keeps the count; the bounds are closed.
TEST(HpaMetrics, TheToleranceIncludesItsEdges) {
  for (const double value : {150.0, 450.0}) {
    EXPECT_EQ(ProposeHpaAverageValue(10, value, 30, 0.5), 10) << value;
    EXPECT_EQ(ProposeHpaValue(10, 10, value, 300, 0.5), 10) << value;
  }
  EXPECT_EQ(ProposeHpaAverageValue(10, 149, 30, 0.5), 5);
  EXPECT_EQ(ProposeHpaAverageValue(10, 451, 30, 0.5), 16);
}

struct Metered {
  explicit Metered(const char* metrics) {
    settings.signals = kSignals;
    settings.hpa.target = 0.5;
    EXPECT_TRUE(SetReplicaSetting("hpa.metrics", metrics, settings).ok());
    EXPECT_TRUE(SetReplicaSetting("hpa.down_window", "0", settings).ok());
    policy = NewReplicaPolicy(**FindReplicaPolicy("hpa"), settings);
  }
  int At(std::optional<double> load, std::vector<double> signals, int ready = 10, int starting = 0) {
    second += 60;
    return policy->Decide({.at = Timestamp::FromSeconds(second),
                           .load = load,
                           .capacity = 1,
                           .ready = ready,
                           .starting = starting,
                           .signals = signals});
  }
  std::string Why() const {
    Reason reason;
    policy->Explain(reason);
    return reason.sentence;
  }
  ReplicaSettings settings;
  std::unique_ptr<ReplicaPolicy> policy;
  int64_t second = 0;
};

constexpr double kNone = -1;

// For ten tasks, a load of 5 cores (half a core per task) and a queue of 300 messages (thirty per task) are at the
// target.
TEST(HpaMetrics, TheLargestCountIsTakenAndWithoutAMetricNoneIsRemoved) {
  struct {
    const char* what;
    std::optional<double> load;
    double queue;
    int count;
  } const cases[] = {
      {"both at the target", 5, 300, 10},
      {"the load asks for more", 7.5, 360, 15},
      {"the queue asks for more", 6, 540, 18},
      {"one up, one down: up", 2, 600, 20},
      {"both down: the one that falls less", 2.5, 210, 7},
      {"the queue is missing, the load goes up: up", 7.5, kNone, 15},
      {"the queue is missing, the load goes down: held", 2, kNone, 10},
      {"the queue is missing, the load is at the target", 5, kNone, 10},
      {"the load is missing, the queue goes up: up", std::nullopt, 600, 20},
      {"the load is missing, the queue goes down: held", std::nullopt, 30, 10},
      {"all are missing: held", std::nullopt, kNone, 10},
      {"what is not a number is missing", 2, NAN, 10},
  };
  for (const auto& c : cases) {
    Metered hpa("queue_length 30 per task");
    EXPECT_EQ(hpa.At(c.load, {c.queue}), c.count) << c.what;
  }
  Metered hpa("queue_length 30 per task");
  EXPECT_EQ(hpa.At(6, {540}), 18);
  EXPECT_EQ(hpa.Why(),
            "queue_length asks for the most of all metrics: 18 tasks, 18 after the stabilisation window, 18 "
            "within the rate limits.");
  (void)hpa.At(7.5, {300});
  EXPECT_THAT(hpa.Why(), HasSubstr("Utilisation is 1.50 times the target of 50 %"));
  (void)hpa.At(1, {kNone});
  EXPECT_EQ(hpa.Why(),
            "Not measured: queue_length. Without all metrics the count does not fall, so it stays 10.");
}

TEST(HpaMetrics, UtilisationOfMemoryIsOfTheOwnersLimit) {
  Metered hpa("memory 80%; lag 500");
  EXPECT_EQ(std::vector<std::string>(hpa.policy->signals().begin(), hpa.policy->signals().end()),
            (std::vector<std::string>{"memory", "memory_limit", "lag"}));
  EXPECT_EQ(hpa.At(5, {12e9, 1e9, 500}), 15);
  EXPECT_EQ(hpa.At(5, {12e9, 1e9, 500}, 8, 2), 15) << "unready tasks count 0 going up";
  EXPECT_EQ(hpa.At(1, {4e9, 1e9, 100}), 5);
  EXPECT_EQ(hpa.At(1, {4e9, kNone, 100}), 10) << "without a limit there is no utilisation";
  EXPECT_EQ(hpa.At(1, {4e9, 1e9, 1000}), 20);
}

TEST(HpaMetrics, OnlyMetricsNeedNoLoad) {
  Metered hpa("only queue_length 30 per task");
  EXPECT_FALSE(hpa.policy->reads_load());
  EXPECT_EQ(hpa.At(std::nullopt, {600}), 20);
  EXPECT_EQ(hpa.At(9, {60}), 2) << "nor look at it";
  EXPECT_TRUE(Metered("queue_length 30 per task").policy->reads_load());
}

TEST(HpaMetrics, AStateGoesOnAsItWas) {
  Metered hpa("queue_length 30 per task; lag 500");
  for (int i = 0; i < 50; ++i) {
    (void)hpa.At(5 + i % 4, {i % 5 == 0 ? kNone : 100.0 * (i % 9), 90.0 * (i % 13)});
    const std::string state = SaveReplicaPolicy("hpa", *hpa.policy);
    auto loaded = LoadReplicaPolicy(state, hpa.settings);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    const std::string why = hpa.Why();
    hpa.policy = *std::move(loaded);
    EXPECT_EQ(hpa.Why(), why);
    EXPECT_EQ(SaveReplicaPolicy("hpa", *hpa.policy), state);
  }
  // With other metrics or without metrics, the learnt state is kept.
  const std::string state = SaveReplicaPolicy("hpa", *hpa.policy);
  for (const char* metrics : {"", "lag 500", "only lag 10"}) {
    ReplicaSettings other = hpa.settings;
    ASSERT_TRUE(SetReplicaSetting("hpa.metrics", metrics, other).ok());
    EXPECT_TRUE(LoadReplicaPolicy(state, other).ok()) << metrics;
  }
}

TEST(HpaMetrics, AreOneLine) {
  HpaMetrics read;
  for (const char* text : {"queue_length 30 per task; lag 500; memory 80%", "only lag 0.5", ""}) {
    ASSERT_TRUE(ParseHpaMetrics(text, kSignals, read).ok()) << text;
    EXPECT_EQ(HpaMetricsText(read), text);
  }
  ASSERT_TRUE(ParseHpaMetrics("  cpu  75 % ;lag 1e3  per task ", kSignals, read).ok());
  EXPECT_EQ(HpaMetricsText(read), "cpu 75%; lag 1000 per task");
  for (const char* text :
       {"lag", "lag 0", "lag -1", "lag x", "lag 5%", "lag 5;", "only", "lag nan", "lag 1 per pod"}) {
    EXPECT_THAT(std::string(ParseHpaMetrics(text, kSignals, read).message()), HasSubstr("invalid metric \""))
        << text;
    EXPECT_EQ(HpaMetricsText(read), "cpu 75%; lag 1000 per task");
  }
  EXPECT_TRUE(ParseHpaMetrics("lag 1e300", kSignals, read).ok());
  EXPECT_FALSE(ParseHpaMetrics("lag 1e301", kSignals, read).ok());
  EXPECT_TRUE(ParseHpaMetrics("lag 1;lag 2;lag 3;lag 4;lag 5;lag 6;lag 7;lag 8", kSignals, read).ok());
  EXPECT_EQ(
      ParseHpaMetrics("lag 1;lag 2;lag 3;lag 4;lag 5;lag 6;lag 7;lag 8;lag 9", kSignals, read).message(),
      "9 metrics: expected at most 8");
  EXPECT_THAT(std::string(ParseHpaMetrics("laag 5", kSignals, read).message()),
              HasSubstr("unknown signal \"laag\"; did you mean \"lag\"? There are cpu, memory, cpu_limit, "
                        "memory_limit, queue_length, lag"));
}

}  // namespace
}  // namespace taut::brain
