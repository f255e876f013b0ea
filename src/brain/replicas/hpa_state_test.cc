// Tests of saving and loading HpaPolicy's state between two decisions, and of its explanations.
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "brain/replicas/hpa.h"
#include "brain/replicas/policies.h"
#include "brain/replicas/reason_fixture.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

std::string SavedHpa(const HpaPolicy& policy) {
  std::string bytes;
  ByteWriter out(&bytes);
  policy.Save(out);
  return bytes;
}
LoadSample HpaMinute(int minute, std::optional<double> load, int ready, int starting = 0,
                     std::span<const double> signals = {}) {
  return {.at = Timestamp::FromSeconds(minute * 60),
          .load = load,
          .capacity = 1,
          .ready = ready,
          .starting = starting,
          .signals = signals};
}
HpaSettings WithMetrics(const char* metrics) {
  ReplicaSettings s;
  s.signals = {"queue_length", "lag"};
  s.hpa.target = 0.5;
  s.hpa.down.stabilization_s = 0;
  EXPECT_TRUE(SetReplicaSetting("hpa.metrics", metrics, s).ok());
  return s.hpa;
}

TEST(HpaState, SaysWhyTheCountStays) {
  HpaPolicy hpa(HpaSettings{}, ReplicaBounds{.min = 2, .max = 30});
  EXPECT_EQ(hpa.Decide(HpaMinute(0, std::nullopt, 7)), 7);
  EXPECT_EQ(SentenceOf(hpa), "The load was not measured, so the count stays 7.");
  EXPECT_EQ(hpa.Decide(HpaMinute(1, std::nullopt, 70)), 30) << "within the bounds";
  EXPECT_EQ(hpa.Decide(HpaMinute(2, 5, 0, 7)), 7);
  EXPECT_EQ(SentenceOf(hpa), "No task is ready, so the count stays 7.");
  EXPECT_EQ(hpa.Decide(HpaMinute(3, 8, 5)), 10);
  Reason reason;
  hpa.Explain(reason);
  ASSERT_EQ(reason.facts.size(), 2U);
  EXPECT_DOUBLE_EQ(std::get<double>(reason.facts[0].value), 2);
  EXPECT_EQ(std::get<double>(reason.facts[1].value), 10);
}

// An unmeasured metric might require more tasks. The explanation contains the reason of the measured metrics
// that kept the count.
TEST(HpaState, SaysWhoKeepsTheCount) {
  HpaPolicy hpa(WithMetrics("queue_length 30 per task"), ReplicaBounds{});
  const std::vector<double> none = {-1};
  EXPECT_EQ(hpa.Decide(HpaMinute(0, 5, 10, 0, none)), 10);
  EXPECT_EQ(SentenceOf(hpa).substr(0, 23), "Utilisation is 1.00 tim");
}

// A workload metric proposes a count even while no task is ready; the load does not.
TEST(HpaState, MetricsThatCannotBeAskedAreMissing) {
  HpaPolicy hpa(WithMetrics("queue_length 30 per task; memory 80%"), ReplicaBounds{});
  const auto at = [&](std::optional<double> load, int ready, int starting, std::vector<double> signals) {
    return hpa.Decide(HpaMinute(0, load, ready, starting, signals));
  };
  EXPECT_EQ(at(5, 10, 0, {300, 8e9, 1e9}), 10);
  EXPECT_EQ(at(2.5, 10, 0, {0, 4e9, 1e9}), 5) << "an empty queue is measured";
  EXPECT_EQ(at(2.5, 10, 0, {0, 4e9, 0}), 10) << "a limit of nothing is none";
  EXPECT_EQ(SentenceOf(hpa),
            "Not measured: memory. Without all metrics the count does not fall, so it stays 10.");
  EXPECT_EQ(at(5, 0, 10, {600, 8e9, 1e9}), 20) << "the queue is that of the workload, ready or not";
  EXPECT_EQ(at(5, 0, 10, {30, 8e9, 1e9}), 10);
  EXPECT_EQ(SentenceOf(hpa),
            "Not measured: load, memory. Without all metrics the count does not fall, so it stays 10.");
  EXPECT_EQ(at(std::nullopt, 10, 0, {INFINITY, 4e9, 1e9}), 10);
  EXPECT_EQ(SentenceOf(hpa),
            "Not measured: load, queue_length. Without all metrics the count does not fall, so it stays 10.");
  EXPECT_EQ(at(2.5, 10, 0, {150}), 10) << "fewer signals than there are";
  EXPECT_EQ(SentenceOf(hpa),
            "Not measured: memory. Without all metrics the count does not fall, so it stays 10.");
}

// 8 GB at 80 % of 1 GB each require ten tasks, regardless of the number of running tasks.
TEST(HpaState, UtilisationIsOfTheReadyTasks) {
  HpaPolicy hpa(WithMetrics("only memory 80%"), ReplicaBounds{});
  const std::vector<double> signals = {8e9, 1e9};
  EXPECT_EQ(hpa.Decide(HpaMinute(0, std::nullopt, 10, 0, signals)), 10);
  EXPECT_EQ(hpa.Decide(HpaMinute(1, std::nullopt, 5, 0, signals)), 10);
  EXPECT_EQ(hpa.Decide(HpaMinute(2, std::nullopt, 20, 0, signals)), 10);
}

// If two metrics propose an equal count, the explanation names the first metric.
TEST(HpaState, OfEqualsTheFirstIsDecisive) {
  HpaPolicy hpa(WithMetrics("queue_length 30 per task; lag 10 per task"), ReplicaBounds{});
  const std::vector<double> both = {450, 150}, second = {300, 200};
  EXPECT_EQ(hpa.Decide(HpaMinute(0, 7.5, 10, 0, both)), 15);
  EXPECT_EQ(SentenceOf(hpa).substr(0, 11), "Utilisation");
  EXPECT_EQ(hpa.Decide(HpaMinute(1, 5, 10, 0, both)), 15);
  EXPECT_EQ(SentenceOf(hpa).substr(0, 12), "queue_length");
  EXPECT_EQ(hpa.Decide(HpaMinute(2, 5, 10, 0, second)), 20);
  Reason reason;
  hpa.Explain(reason);
  EXPECT_EQ(reason.sentence.substr(0, 4), "lag ");
  ASSERT_EQ(reason.facts.size(), 1U);
  EXPECT_EQ(std::get<double>(reason.facts[0].value), 20);
}

// The longest period applies to both directions: of 14 tasks, 4 were added within the last ten minutes. Two tasks
// may be removed from the 10 tasks at the period's start, so 8 remain.
TEST(HpaState, RatesRememberTheLongestPeriod) {
  ReplicaSettings s;
  ASSERT_TRUE(SetReplicaSetting("hpa.up", "4 pods per 15s", s).ok());
  ASSERT_TRUE(SetReplicaSetting("hpa.down", "2 pods per 10m", s).ok());
  s.hpa.down.stabilization_s = 0;
  HpaPolicy hpa(s.hpa, ReplicaBounds{});
  EXPECT_EQ(hpa.Decide(HpaMinute(0, 40, 10)), 14);
  EXPECT_EQ(hpa.Decide(HpaMinute(5, 1, 14)), 8);
  EXPECT_EQ(hpa.Decide(HpaMinute(10, 1, 8)), 8)
      << "the four are out of the period, the six that went are not";
  EXPECT_EQ(hpa.Decide(HpaMinute(15, 1, 8)), 6);
}

TEST(HpaState, TheBoundsHoldAfterTheRates) {
  HpaPolicy hpa(HpaSettings{}, ReplicaBounds{.min = 3, .max = 12});
  EXPECT_EQ(hpa.Decide(HpaMinute(0, 40, 10)), 12);
  EXPECT_EQ(hpa.Decide(HpaMinute(20, 0, 12)), 3);
  EXPECT_EQ(hpa.Decide(HpaMinute(40, 1, 20)), 3) << "it ran more than it may";
  // The bounds apply even if both directions are disabled.
  ReplicaSettings s;
  ASSERT_TRUE(SetReplicaSetting("hpa.up", "disabled", s).ok());
  ASSERT_TRUE(SetReplicaSetting("hpa.down", "disabled", s).ok());
  HpaPolicy fixed(s.hpa, ReplicaBounds{.min = 3, .max = 12});
  EXPECT_EQ(fixed.Decide(HpaMinute(0, 40, 10)), 10);
  EXPECT_EQ(fixed.Decide(HpaMinute(1, 16, 20)), 12);
  EXPECT_EQ(fixed.Decide(HpaMinute(2, 1, 2)), 3);
}

// Ten of twenty tasks were removed ten seconds ago. The count may double within a period. Twenty tasks ran at the
// start of the period, so forty tasks may run.
TEST(HpaState, WhatWasRemovedMayComeBackAtOnce) {
  HpaSettings settings;
  settings.down.stabilization_s = 0;
  HpaPolicy hpa(settings, ReplicaBounds{});
  const auto at = [](int second, double load, int ready) {
    return LoadSample{
        .at = Timestamp::FromSeconds(second), .load = load, .capacity = 1, .ready = ready, .starting = 0};
  };
  EXPECT_EQ(hpa.Decide(at(0, 8, 20)), 10);
  EXPECT_EQ(hpa.Decide(at(10, 400, 10)), 40);
  EXPECT_EQ(hpa.Decide(at(14, 400, 40)), 40);
}

// With a decision per minute, a window of five minutes contains five recommendations. The state of a steady job
// does not grow.
TEST(HpaState, KeepsWhatItsWindowsHold) {
  HpaPolicy hpa(HpaSettings{}, ReplicaBounds{});
  for (int m = 0; m < 5; ++m) (void)hpa.Decide(HpaMinute(m, 8, 10));
  const size_t five = SavedHpa(hpa).size();
  for (int m = 5; m < 200; ++m) {
    (void)hpa.Decide(HpaMinute(m, 8, 10));
    ASSERT_EQ(SavedHpa(hpa).size(), five) << m;
  }
  EXPECT_LE(hpa.state_bytes(), sizeof(hpa) + 16 * sizeof(HpaAdvice));
  // Changes are kept for the longest period, which is 15 s by default. With one change every 15 s, one change is
  // kept.
  ReplicaSettings s;
  ASSERT_TRUE(SetReplicaSetting("hpa.up", "1 pods per 60s", s).ok());
  ASSERT_TRUE(SetReplicaSetting("hpa.down", "1 pods per 60s", s).ok());
  s.hpa.down.stabilization_s = 0;
  HpaPolicy rated(s.hpa, ReplicaBounds{});
  int count = 10;
  size_t size = 0;
  for (int m = 0; m < 20; ++m) {
    count = rated.Decide(HpaMinute(m, m % 2 == 0 ? 40 : 0.1, count));
    if (m == 0) size = SavedHpa(rated).size();
    ASSERT_EQ(SavedHpa(rated).size(), size) << m;
  }
}

TEST(HpaState, CountsItsBytes) {
  HpaPolicy hpa(HpaSettings{}, ReplicaBounds{});
  EXPECT_EQ(hpa.state_bytes(), sizeof(hpa));
  (void)hpa.Decide(HpaMinute(0, 8, 10));
  EXPECT_EQ(hpa.state_bytes(), sizeof(hpa) + sizeof(HpaAdvice)) << "one recommendation";
  ReplicaSettings s;
  s.hpa.down.stabilization_s = 0;
  HpaPolicy both(s.hpa, ReplicaBounds{});
  (void)both.Decide(HpaMinute(0, 16, 10));
  (void)both.Decide({.at = Timestamp::FromSeconds(1), .load = 1, .capacity = 1, .ready = 20, .starting = 0});
  EXPECT_GE(both.state_bytes(), sizeof(both) + sizeof(HpaAdvice) + 2 * sizeof(HpaChange))
      << "and a change each way";
}

TEST(HpaState, GoesOnFromItsBytes) {
  ReplicaSettings s;
  ASSERT_TRUE(SetReplicaSetting("hpa.up", "4 pods per 5m", s).ok());
  ASSERT_TRUE(SetReplicaSetting("hpa.down", "3 pods per 7m", s).ok());
  s.hpa.up.stabilization_s = 120;
  HpaPolicy straight(s.hpa, ReplicaBounds{});
  auto broken = std::make_unique<HpaPolicy>(s.hpa, ReplicaBounds{});
  int count = 10;
  int changes = 0;
  for (int m = 0; m < 300; ++m) {
    const LoadSample sample = HpaMinute(m, m % 17 == 3 ? std::nullopt : std::optional(4.0 + m % 23),
                                        m % 19 == 5 ? 0 : count, m % 19 == 5 ? count : 0);
    const int next = straight.Decide(sample);
    changes += next != count ? 1 : 0;
    count = next;
    ASSERT_EQ(broken->Decide(sample), count) << m;
    const std::string bytes = SavedHpa(*broken);
    broken = std::make_unique<HpaPolicy>(s.hpa, ReplicaBounds{});
    ByteReader in(bytes);
    ASSERT_TRUE(broken->Load(in).ok());
    ASSERT_EQ(in.remaining(), 0U);
    ASSERT_EQ(SavedHpa(*broken), bytes);
    ASSERT_EQ(SentenceOf(*broken), SentenceOf(straight)) << m;
  }
  EXPECT_GT(changes, 10);
}

TEST(HpaState, RefusesBytesThatCannotBe) {
  HpaSettings settings;
  settings.down.stabilization_s = 0;
  HpaPolicy hpa(settings, ReplicaBounds{});
  (void)hpa.Decide({.at = Timestamp::FromSeconds(0), .load = 16, .capacity = 1, .ready = 10, .starting = 0});
  const std::string bytes = SavedHpa(hpa);
  HpaPolicy other(settings, ReplicaBounds{});
  const std::string empty = SavedHpa(other);
  const auto load = [&](const std::string& state) {
    ByteReader in(state);
    return other.Load(in).code();
  };
  for (size_t cut = 0; cut < bytes.size(); ++cut)
    EXPECT_EQ(load(bytes.substr(0, cut)), absl::StatusCode::kDataLoss) << cut;
  // Offsets in the state: one recommendation (a byte, then time and count), one change up of the same format,
  // and no change down.
  constexpr size_t kAdvice = 1, kUp = kAdvice + 12 + 1, kRatio = kUp + 12 + 1 + 4, kKnown = kRatio + 8;
  const auto with = [&](size_t at, auto value) {
    std::string damaged = bytes;
    std::memcpy(damaged.data() + at, &value, sizeof(value));
    return load(damaged);
  };
  for (const size_t at : {kAdvice, kUp, kRatio})
    EXPECT_EQ(with(at, std::nan("")), absl::StatusCode::kDataLoss) << at;
  for (const size_t at : {kAdvice + 8, kUp + 8, kKnown + 1})
    EXPECT_EQ(with(at, -1), absl::StatusCode::kDataLoss) << at;
  EXPECT_EQ(with(kKnown, uint8_t{2}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(SavedHpa(other), empty) << "what is refused changes nothing";
  // The sum of two changes of 600 million tasks each exceeds the bound for an int; a single change does not.
  EXPECT_EQ(with(kUp + 8, 1'000'000'000), absl::StatusCode::kOk);
  std::string two = bytes;
  two[kUp - 1] = 2;
  const int large = 600'000'000;
  std::memcpy(two.data() + kUp + 8, &large, sizeof(large));
  two.insert(kUp, two.substr(kUp, 12));
  EXPECT_EQ(load(two), absl::StatusCode::kDataLoss);
}

// A state can be loaded without its metrics or with other metrics; only the explanation is lost.
TEST(HpaState, MetricsThatChangedLoseTheReason) {
  const std::vector<double> signals = {600, 20};
  HpaPolicy hpa(WithMetrics("queue_length 30 per task; lag 500"), ReplicaBounds{});
  EXPECT_EQ(hpa.Decide(HpaMinute(0, 5, 10, 0, signals)), 20);
  EXPECT_EQ(SentenceOf(hpa).substr(0, 12), "queue_length");
  const std::string bytes = SavedHpa(hpa);
  const auto said = [&](const char* metrics, const std::string& state) {
    HpaPolicy other(WithMetrics(metrics), ReplicaBounds{});
    ByteReader in(state);
    EXPECT_TRUE(other.Load(in).ok()) << metrics;
    EXPECT_EQ(in.remaining(), 0U) << metrics;
    return SentenceOf(other).substr(0, 12);
  };
  EXPECT_EQ(said("queue_length 30 per task; lag 500", bytes), "queue_length");
  EXPECT_EQ(said("lag 500", bytes), "Utilisation ");
  EXPECT_EQ(said("", bytes), "Utilisation ");
  HpaPolicy before(WithMetrics(""), ReplicaBounds{});
  EXPECT_EQ(before.Decide(HpaMinute(0, 10, 10)), 20);
  EXPECT_EQ(said("queue_length 30 per task; lag 500", SavedHpa(before)), "Utilisation ");
  // A state with the mark of metrics is rejected if fields of the metrics are missing.
  const size_t mark = SavedHpa(before).size();
  for (size_t cut = mark + sizeof(uint32_t); cut < bytes.size(); ++cut) {
    HpaPolicy other(WithMetrics("queue_length 30 per task; lag 500"), ReplicaBounds{});
    const std::string part = bytes.substr(0, cut);
    ByteReader in(part);
    EXPECT_EQ(other.Load(in).code(), absl::StatusCode::kDataLoss) << cut;
  }
  // The last fields are the missing metrics and the decisive metric.
  const auto with = [&](size_t from_the_end, auto value) {
    std::string damaged = bytes;
    std::memcpy(damaged.data() + bytes.size() - from_the_end, &value, sizeof(value));
    HpaPolicy other(WithMetrics("queue_length 30 per task; lag 500"), ReplicaBounds{});
    ByteReader in(damaged);
    return other.Load(in).code();
  };
  EXPECT_EQ(with(4, 2), absl::StatusCode::kOk) << "the second of two";
  EXPECT_EQ(with(4, 3), absl::StatusCode::kDataLoss);
  EXPECT_EQ(with(4, 9), absl::StatusCode::kDataLoss);
  EXPECT_EQ(with(4, -1), absl::StatusCode::kDataLoss);
  EXPECT_EQ(with(8, 511U), absl::StatusCode::kOk);
  EXPECT_EQ(with(8, 512U), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace taut::brain
