// Tests that copying, saving and loading analogs at any hour changes nothing, and that impossible states are
// rejected.
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "brain/recommend/analogs.h"
#include "brain/recommend/ensemble.h"
#include "brain/recommend/flat_fleet_fixture.h"
#include "brain/recommend/made_signal.h"
#include "common/base/random.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

std::string SavedAnalogs(const AnalogsRecommender& r) {
  std::string bytes;
  ByteWriter out(&bytes);
  r.Save(out);
  return bytes;
}

void ExpectTheSameRow(const FleetRow& a, const FleetRow& b) {
  ASSERT_EQ(a.verdict.has_value(), b.verdict.has_value());
  if (a.verdict.has_value()) {
    EXPECT_EQ(a.verdict->promised, b.verdict->promised);
    EXPECT_EQ(a.verdict->overrun, b.verdict->overrun);
  }
  EXPECT_EQ(a.warning_came_true, b.warning_came_true);
  EXPECT_EQ(a.own_order, b.own_order);
  ASSERT_EQ(a.lesson.has_value(), b.lesson.has_value());
  if (a.lesson.has_value()) {
    EXPECT_EQ(a.lesson->outcome, b.lesson->outcome);
  }
  EXPECT_EQ(a.tomorrow.week_peak, b.tomorrow.week_peak);
  EXPECT_EQ(a.tomorrow.floor, b.tomorrow.floor);
  EXPECT_EQ(a.tomorrow.kept_limit, b.tomorrow.kept_limit);
  EXPECT_EQ(a.tomorrow.tasks, b.tomorrow.tasks);
  EXPECT_EQ(a.tomorrow.own.size, b.tomorrow.own.size);
}

void ExpectTheSameReason(const AnalogsRecommender& a, const AnalogsRecommender& b) {
  Reason said;
  Reason again;
  a.Explain(said);
  b.Explain(again);
  EXPECT_EQ(said.sentence, again.sentence);
  EXPECT_EQ(said.why, again.why);
  EXPECT_EQ(said.chance, again.chance);
  EXPECT_EQ(SaveReason(said), SaveReason(again));
}

// Ways to interrupt a recommender between two windows.
enum class Broken { kCopied, kLoaded };

// Four weeks of a job with warnings, raises and overruns, once without interruption and once copied or loaded
// after every seventh window with usage.
struct Weeks {
  int32_t step = 12;  // distance in windows between two windows with usage
  int overruns = 0, warned = 0;

  void Run(const AnalogFleet& fleet, const AnalogJob& job, Broken how) {
    AnalogsRecommender straight(fleet, nullptr, OomSettings(), job);
    auto broken = std::make_unique<AnalogsRecommender>(fleet, nullptr, OomSettings(), job);
    Rng rng(11);
    int windows = 0;
    for (int32_t day = kFirst; day < kFirst + 28; ++day) {
      straight.StartDay(day);
      broken->StartDay(day);
      const uint32_t tasks = 1 + static_cast<uint32_t>(day % 3);
      for (int32_t i = 0; i < kWindowsPerDay; i += step) {
        const WindowId w{day * kWindowsPerDay + i};
        // Usage has a high spike on every second day, and an exceptional spike on three days.
        const double spike = day % 9 == 4 && i == 96 ? 2.5 : day % 2 == 1 && i == 120 ? 1.5 : 1;
        const double usage = kUsual * (0.6 + 0.05 * rng.Normal()) * spike;
        Use(straight, w.index, usage, tasks);
        Use(*broken, w.index, usage, tasks);
        const std::optional<double> limit = straight.Recommend(w.next());
        ASSERT_EQ(broken->Recommend(w.next()), limit) << day << " " << i;
        if (++windows % 7 != 0) continue;
        Break(fleet, job, how, broken);
        ExpectTheSameReason(straight, *broken);
      }
      FleetRows rows;
      straight.EndDay(day, rows);
      const size_t own = rows.size();
      broken->EndDay(day, rows);
      ASSERT_EQ(rows.size(), 2 * own);
      if (own == 0) continue;
      ExpectTheSameRow(rows[0], rows[1]);
      overruns += rows[0].verdict.has_value() && rows[0].verdict->overrun ? 1 : 0;
      warned += rows[0].warning_came_true.has_value() ? 1 : 0;
    }
  }
  static void Break(const AnalogFleet& fleet, const AnalogJob& job, Broken how,
                    std::unique_ptr<AnalogsRecommender>& r) {
    if (how == Broken::kCopied) {
      std::unique_ptr<Recommender> copy = r->Clone();
      r.reset(static_cast<AnalogsRecommender*>(copy.release()));
      return;
    }
    const std::string bytes = SavedAnalogs(*r);
    r = std::make_unique<AnalogsRecommender>(fleet, nullptr, OomSettings(), job);
    ByteReader in(bytes);
    ASSERT_TRUE(r->Load(in).ok());
    ASSERT_EQ(in.remaining(), 0U);
    EXPECT_EQ(SavedAnalogs(*r), bytes);
  }
};

TEST(AnalogsState, ACopyAndACheckpointGoOnAtAnyHour) {
  // At the first price, every raise is worth its cost. At the other two prices, a raise is worth its cost
  // only while overruns follow the job's own warnings.
  for (const double price : {3 * kDear, 5 * kUsual, 10 * kUsual}) {
    const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(price));
    for (const Broken how : {Broken::kCopied, Broken::kLoaded}) {
      for (const AnalogJob& job : {AnalogJob{}, AnalogJob{.day_start = 100, .order = {}},
                                   AnalogJob{.day_start = 40, .order = 0.2}}) {
        Weeks weeks;
        weeks.Run(fleet, job, how);
        if (job.order.has_value() || price < kDear) continue;
        EXPECT_GT(weeks.overruns, 1) << "the weeks should have all of it";
        EXPECT_GT(weeks.warned, 0);
      }
    }
  }
}

// Before the fleet is ready, the fallback recommends. Copies and checkpoints include the fallback.
TEST(AnalogsState, TheFallbackGoesAlong) {
  const EnsembleConfig config{EnsembleSettings()};
  const AnalogFleet young(Resource::kMemory, AnalogSettings());
  const auto make = [&](bool with) {
    return std::make_unique<AnalogsRecommender>(
        young,
        with ? std::make_unique<EnsembleRecommender>(Resource::kMemory, config, OomSettings()) : nullptr,
        OomSettings());
  };
  const auto r = make(true);
  for (int32_t w = 0; w < 2 * kWindowsPerDay; w += 12) Use(*r, w, kUsual * (1 + w % 5));
  const double limit = *r->Recommend(WindowId{2 * kWindowsPerDay});
  const size_t ensemble = EnsembleRecommender(Resource::kMemory, config, OomSettings()).state_bytes();
  EXPECT_EQ(make(true)->state_bytes(), make(false)->state_bytes() + ensemble);
  EXPECT_EQ(*r->Clone()->Recommend(WindowId{2 * kWindowsPerDay}), limit);
  const std::string bytes = SavedAnalogs(*r);
  const auto again = make(true);
  ByteReader in(bytes);
  ASSERT_TRUE(again->Load(in).ok());
  EXPECT_EQ(in.remaining(), 0U);
  EXPECT_EQ(*again->Recommend(WindowId{2 * kWindowsPerDay}), limit);
  const auto without = make(false);
  ByteReader refused(bytes);
  EXPECT_EQ(without->Load(refused).code(), absl::StatusCode::kInvalidArgument);
  // Loading a state without a fallback removes the fallback.
  const std::string empty = SavedAnalogs(*make(false));
  ByteReader none(empty);
  ASSERT_TRUE(again->Load(none).ok());
  EXPECT_FALSE(again->Recommend(WindowId{2 * kWindowsPerDay}).has_value());
  // In a ready fleet a new job keeps its fallback until the first day begins, because a checkpoint may contain a
  // fallback.
  const AnalogFleet ready = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  AnalogsRecommender spare(
      ready, std::make_unique<EnsembleRecommender>(Resource::kMemory, config, OomSettings()), OomSettings());
  EXPECT_FALSE(spare.Recommend(WindowId{kFirst * kWindowsPerDay}).has_value());
  const std::unique_ptr<Recommender> copy = spare.Clone();
  for (Recommender* one : {static_cast<Recommender*>(&spare), copy.get()}) {
    EXPECT_EQ(one->state_bytes(), make(false)->state_bytes() + ensemble);
    ByteReader with(bytes);
    ASSERT_TRUE(one->Load(with).ok());
    EXPECT_EQ(*one->Recommend(WindowId{2 * kWindowsPerDay}), limit);
  }
}

// A new job's fallback is destroyed when the job's first day begins, unless a checkpoint has restored the
// fallback.
TEST(AnalogsState, ASpareFallbackIsReleased) {
  const EnsembleConfig config{EnsembleSettings()};
  const AnalogFleet ready = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  AnalogsRecommender r(ready, std::make_unique<EnsembleRecommender>(Resource::kMemory, config, OomSettings()),
                       OomSettings());
  const AnalogsRecommender without(ready, nullptr, OomSettings());
  EXPECT_GT(r.state_bytes(), without.state_bytes());
  r.StartDay(kFirst);
  EXPECT_EQ(r.state_bytes(), without.state_bytes());
}

// Offsets in the state of a decided job, in bytes after the flags.
enum Offset : size_t {
  kFlags = 0,
  kOverrun = 1,
  kKept = 2,
  kLimit = 3,
  kChance = 11,
  kCost = 19,
  kPrice = 27,
  kRaised = 35,
  kDecidedDay = 43,
  kRaisedUntil = 47,
  kLastUsage = 51,
  kWarnedWindow = 55,
  kJobDay = 60,
  kEndedDay = 64,
  kRaisedFrom = 68,
  kEndedPromised = 76,
  kKeptLimit = 104,
  kPromisedToday = 112,
  kTodayWindows = 118,
  kTodayTasks = 122,
  kTasks = 126,
  kFallback = 130,
  kEnd = 131
};

class Damaged {
 public:
  Damaged() : fleet_(FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear))) {
    AnalogsRecommender r(fleet_, nullptr, OomSettings());
    const int32_t start = LiveFirstDay(r);
    Use(r, start, 0.5 * kUsual);
    Use(r, start + 1, 0.9 * kUsual);
    limit_ = *r.Recommend(WindowId{start + 2});
    next_ = WindowId{start + 2};
    bytes_ = SavedAnalogs(r);
    flags_ = bytes_.size() - kEnd;
  }
  template <typename T>
  absl::Status With(size_t offset, T value) {
    std::string damaged = bytes_;
    std::memcpy(damaged.data() + flags_ + offset, &value, sizeof(value));
    return Load(damaged);
  }
  // Returns the state with `flags` and without the bytes in [from, to).
  std::string Older(size_t from, size_t to, char flags) const {
    std::string older = bytes_;
    older[flags_] = flags;
    older.erase(flags_ + from, to - from);
    return older;
  }
  absl::Status Load(const std::string& bytes) {
    loaded_ = std::make_unique<AnalogsRecommender>(fleet_, nullptr, OomSettings());
    ByteReader in(bytes);
    return loaded_->Load(in);
  }
  AnalogsRecommender& loaded() { return *loaded_; }
  double limit() const { return limit_; }
  WindowId next() const { return next_; }
  const std::string& bytes() const { return bytes_; }
  const AnalogFleet& fleet() const { return fleet_; }

 private:
  AnalogFleet fleet_;
  std::string bytes_;
  size_t flags_ = 0;
  double limit_ = 0;
  WindowId next_;
  std::unique_ptr<AnalogsRecommender> loaded_;
};

TEST(AnalogsState, RefusesEachFigureThatCannotBe) {
  Damaged d;
  ASSERT_TRUE(d.Load(d.bytes()).ok());
  EXPECT_EQ(*d.loaded().Recommend(d.next()), d.limit());
  EXPECT_NEAR(d.limit(), 1.44 * kUsual, 1) << "a raise is among what was saved";
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr auto kNanFloat = std::numeric_limits<float>::quiet_NaN();
  for (const Offset at : {kLimit, kPrice, kRaised}) {
    EXPECT_TRUE(d.With(at, 5e8).ok()) << at;
    for (const double bad : {-1.0, kNan, double{INFINITY}})
      EXPECT_EQ(d.With(at, bad).code(), absl::StatusCode::kDataLoss) << at;
  }
  for (const Offset at : {kChance, kCost}) {
    EXPECT_TRUE(d.With(at, 0.5).ok()) << at;
    EXPECT_EQ(d.With(at, kNan).code(), absl::StatusCode::kDataLoss) << at;
  }
  EXPECT_TRUE(d.With(kKeptLimit, -1.0).ok()) << "none";
  for (const double bad : {-2.0, kNan})
    EXPECT_EQ(d.With(kKeptLimit, bad).code(), absl::StatusCode::kDataLoss);
  for (const Offset at : {kDecidedDay, kJobDay, kEndedDay, kRaisedUntil, kWarnedWindow, kRaisedFrom}) {
    EXPECT_EQ(d.With(at, INT32_MAX).code(), absl::StatusCode::kDataLoss) << at;
    EXPECT_EQ(d.With(at, INT32_MIN).ok(), at != kDecidedDay) << at << ": none, but of the decision";
  }
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_TRUE(d.With(kEndedPromised + 4 * i, 0.5F).ok()) << i;
    EXPECT_EQ(d.With(kEndedPromised + 4 * i, kNanFloat).code(), absl::StatusCode::kDataLoss) << i;
  }
  EXPECT_EQ(d.With(kPromisedToday, kNanFloat).code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(d.With(kTasks, 1.0F).ok());
  for (const float bad : {0.9F, kNanFloat, std::numeric_limits<float>::infinity()})
    EXPECT_EQ(d.With(kTasks, bad).code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(d.With(kTodayTasks, uint32_t{2}).ok()) << "two windows of one task";
  EXPECT_EQ(d.With(kTodayTasks, uint32_t{1}).code(), absl::StatusCode::kDataLoss);
  for (size_t cut = 0; cut < d.bytes().size(); ++cut)
    EXPECT_FALSE(d.Load(d.bytes().substr(0, cut)).ok()) << cut;
}

TEST(AnalogsState, RefusesADecisionWithoutADay) {
  Damaged d;
  AnalogsRecommender fresh(d.fleet(), nullptr, OomSettings());
  const std::string bytes = SavedAnalogs(fresh);
  const size_t flags = bytes.size() - kEnd;
  EXPECT_TRUE(d.Load(bytes).ok());
  std::string decided = bytes;
  decided[flags] = static_cast<char>(decided[flags] | 1);
  EXPECT_EQ(d.Load(decided).code(), absl::StatusCode::kDataLoss);
  std::string ended = bytes;
  const int32_t day = kFirst;
  std::memcpy(ended.data() + flags + kEndedDay, &day, sizeof(day));
  EXPECT_EQ(d.Load(ended).code(), absl::StatusCode::kDataLoss);
}

// Checkpoints older than the jobs' own days, or older than promises of the limit in force, can be loaded. The
// decision stays valid, usage can raise the limit again, and the next midnight begins the correct day.
TEST(AnalogsState, OlderCheckpointsAreRead) {
  Damaged d;
  for (const auto& [from, flags] :
       {std::pair<size_t, char>{kJobDay, 1}, {kPromisedToday, 1 | 2}, {kTodayWindows, 1 | 2 | 4}}) {
    ASSERT_TRUE(d.Load(d.Older(from, kFallback, flags)).ok()) << from;
    EXPECT_NEAR(*d.loaded().Recommend(d.next()), 1.44 * kUsual, 1) << from;
    Use(d.loaded(), d.next().index, 0.5 * kUsual);
    FleetRows rows;
    d.loaded().EndDay(kFirst + 1, rows);
    ASSERT_EQ(rows.size(), 1U) << from;
    EXPECT_TRUE(rows[0].verdict.has_value()) << from;
    EXPECT_NEAR(rows[0].tomorrow.kept_limit, kUsual, 1) << from;
    EXPECT_EQ(rows[0].warning_came_true, false) << from;
    d.loaded().StartDay(kFirst + 2);
    EXPECT_NEAR(*d.loaded().Recommend(WindowId{(kFirst + 2) * kWindowsPerDay}), kUsual, 1) << from;
  }
}

// Older states do not record whether a raise was in force. The next Recommend sets the flag.
TEST(AnalogsState, AnOlderCheckpointTakesThePlaceOfAll) {
  Damaged d;
  const std::string older = d.Older(kJobDay, kFallback, 1);
  ASSERT_TRUE(d.Load(d.bytes()).ok());
  for (const bool had_a_raise : {true, false}) {
    if (!had_a_raise) {
      ASSERT_TRUE(d.Load(older).ok());
    } else {
      ByteReader in(older);
      ASSERT_TRUE(d.loaded().Load(in).ok());
    }
    Reason reason;
    d.loaded().Explain(reason);
    EXPECT_NEAR(*reason.limit, kUsual, 1) << had_a_raise;
    EXPECT_NEAR(*d.loaded().Recommend(d.next()), 1.44 * kUsual, 1) << had_a_raise;
  }
}

TEST(AnalogsState, CountsItsBytes) {
  Damaged d;
  AnalogsRecommender r(d.fleet(), nullptr, OomSettings());
  EXPECT_EQ(r.state_bytes(), sizeof(r));
  Use(r, kFirst * kWindowsPerDay, kUsual);
  const size_t one_window = r.state_bytes();
  EXPECT_GT(one_window, sizeof(r)) << "the windows of the day";
  (void)LiveFirstDay(r);
  EXPECT_GE(r.state_bytes(), one_window + sizeof(DaySummary)) << "and a day";
}

// A job's day may be decided before the calendar day ends. The row for the fleet contains the input of this
// decision and the limit that was in force at the decision.
TEST(AnalogsState, ARowIsOfTheDecisionThatIsInForce) {
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  AnalogsRecommender r(fleet, nullptr, OomSettings(),
                       AnalogJob{.day_start = 100, .order = {}, .price_factor = 2});
  FleetRows rows;
  r.StartDay(kFirst);
  int32_t start = kFirst * kWindowsPerDay;
  for (const auto& [at, usage] : {std::pair{0, 1.0}, {1, 0.5}, {2, 0.5}, {150, 0.5}})
    Use(r, start + at, usage * kUsual);
  r.EndDay(kFirst, rows);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_LT(rows[0].tomorrow.kept_limit, 0) << "none was in force";
  EXPECT_NEAR(rows[0].tomorrow.week_peak, kUsual, 1);
  EXPECT_NEAR(rows[0].tomorrow.floor, 0.5 * kUsual, 0.01 * kUsual);
  EXPECT_EQ(rows[0].tomorrow.price_factor, 2);
  start += kWindowsPerDay;
  r.StartDay(kFirst + 1);
  EXPECT_NEAR(*r.Recommend(WindowId{start + 50}), kUsual, 1);
  Use(r, start + 50, 0.9 * kUsual);
  EXPECT_NEAR(*r.Recommend(WindowId{start + 51}), 1.44 * kUsual, 1);
  Use(r, start + 150, 0.5 * kUsual);
  EXPECT_NEAR(*r.Recommend(WindowId{start + 151}), kUsual, 1);
  r.EndDay(kFirst + 1, rows);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NEAR(rows[1].tomorrow.kept_limit, 1.44 * kUsual, 1) << "the raise was";
}

// One overrun raises the limit once, although the engine calls Recommend again for this window after a kill.
TEST(AnalogsState, AskingAgainRaisesNoFurther) {
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  AnalogsRecommender r(fleet, nullptr, OomSettings());
  const int32_t start = LiveFirstDay(r);
  Use(r, start, 1.5 * kUsual);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(*r.Recommend(WindowId{start + 1}), 1.8 * kUsual, 1e-6 * kUsual) << i;
  EXPECT_NEAR(*r.Recommend(WindowId{start + 2}), 1.8 * kUsual, 1e-6 * kUsual);
}

// A day has at most one raise, even if usage of the evening before caused the raise.
TEST(AnalogsState, TheFirstWindowsRaiseIsTheDays) {
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  AnalogsRecommender r(fleet, nullptr, OomSettings());
  const int32_t start = LiveFirstDay(r) + kWindowsPerDay;
  Use(r, start - 1, 0.9 * kUsual);
  FleetRows rows;
  r.EndDay(kFirst + 1, rows);
  r.StartDay(kFirst + 2);
  EXPECT_NEAR(*r.Recommend(WindowId{start}), 1.44 * kUsual, 1);
  Use(r, start + 72, 0.5 * kUsual);
  EXPECT_NEAR(*r.Recommend(WindowId{start + 73}), kUsual, 1);
  Use(r, start + 80, 0.9 * kUsual);
  EXPECT_NEAR(*r.Recommend(WindowId{start + 81}), kUsual, 1);
}

// An overrun in a day's last window raises the next day's limit once, because the next decision discards earlier
// overruns.
TEST(AnalogsState, ADecisionEndsTheDaysOverruns) {
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  AnalogsRecommender r(fleet, nullptr, OomSettings());
  const int32_t start = LiveFirstDay(r);
  Use(r, start + 280, 1.5 * kUsual);
  EXPECT_NEAR(*r.Recommend(WindowId{start + 281}), 1.2 * 1.5 * kUsual, 1e-6 * kUsual);
  Use(r, start + kWindowsPerDay - 1, 1.9 * kUsual);
  FleetRows rows;
  r.EndDay(kFirst + 1, rows);
  r.StartDay(kFirst + 2);
  EXPECT_NEAR(*r.Recommend(WindowId{start + kWindowsPerDay}), 1.2 * 1.9 * kUsual, 1e-6 * kUsual);
}

// The promise for a day is the chance of the limit in force at the day's start, even if no limit was decided.
TEST(AnalogsState, ADaysPromiseIsThatOfItsFirstLimit) {
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  for (const bool lower_first : {false, true}) {
    AnalogsRecommender r(fleet, nullptr, OomSettings());
    const int32_t start = LiveFirstDay(r);
    for (int32_t i = 0; i < 2; ++i) {
      const MadeSignal made(Resource::kMemory, start + i, 0.3 * kUsual);
      Signal signal = made;
      signal.limit = (lower_first == (i == 0) ? 0.5 : 1.5) * kUsual;
      r.Observe(signal);
    }
    FleetRows rows;
    r.EndDay(kFirst + 1, rows);
    EXPECT_NEAR(rows.at(0).verdict->promised, lower_first ? 1 : 0, 1e-6);
  }
}

}  // namespace
}  // namespace taut::brain
