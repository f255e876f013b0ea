// Tests the work function against its definition (docs/algorithms/vertical.md), computed in doubles, lists and
// maps. Each window checks the prices, costs and the day's sums, and whether and how far the limit may move.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "brain/recommend/made_signal.h"
#include "brain/recommend/work_function.h"
#include "common/base/random.h"
#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using Levels = WorkFunctionRecommender;
constexpr Resource kOf = Resource::kCpu;
constexpr double kNearTheLimit = 0.97, kNeedOfCut = 2, kThrottledFrom = 0.01;
constexpr double kFleetNeedOfCut = 1.3, kShareOfFirstWindow = 0.5;
constexpr double kHalfLife = 14 * kWindowsPerDay;

struct Need {
  double usage, share;
};

bool IsCut(const Signal& s, double usage) {
  return s.cut_at.has_value() && usage >= kNearTheLimit * *s.cut_at &&
         (!s.throttled.has_value() || *s.throttled >= kThrottledFrom);
}
double Throttled(const Signal& s) { return s.cut_at.has_value() ? s.throttled.value_or(0) : 0; }

std::vector<Need> NeedsOf(const Signal& s, double of_cut = kNeedOfCut) {
  std::vector<Need> out;
  const auto n = static_cast<double>(s.tasks.size());
  const double each = 1 / n;
  double at_limit = 0;
  for (const TaskUsage& task : s.tasks) at_limit += IsCut(s, task.peak) ? 1 : 0;
  const double t = at_limit < n ? std::max(0.0, Throttled(s) * n - at_limit) / (n - at_limit) : 0;
  for (const TaskUsage& task : s.tasks) {
    if (IsCut(s, task.peak)) {
      out.push_back({of_cut * *s.cut_at, each});
    } else {
      if (t > 0) out.push_back({of_cut * *s.cut_at, each * t});
      if (t < 1)
        out.push_back({std::max(0.0, (task.peak - t * s.cut_at.value_or(0)) / (1 - t)), each * (1 - t)});
    }
  }
  return out;
}

class Definition {
 public:
  Definition(const WorkFunctionFleet& fleet, double price_factor, std::optional<double> order)
      : fleet_(fleet), price_factor_(price_factor), order_(order), costs_(Levels::kLevels) {}

  double ChargeOf(double price) const {
    return fleet_.settings().change_scale * std::max(45.0, 2.5 * std::sqrt(price));
  }
  double size() const { return owner_limit_.value_or(day_peak_); }
  std::pair<double, double> Prices() const {
    if (!order_.has_value()) {
      double price = price_factor_ * fleet_.price();
      const double most = fleet_.settings().job_cap * fleet_.settings().order(kOf) / price_factor_;
      if (most > 0 && over_ > most * used_) price *= std::min(std::pow(over_ / (most * used_), 2), 64.0);
      return {price, fleet_.change_charge(size())};
    }
    double price = fleet_.PriceFor(*order_);
    if (used_ > 0) {
      const double prior = 3.0 * kWindowsPerDay / (*last_ - first_ + 1);
      const double share = (over_ / used_ + *order_ * prior) / (1 + prior);
      price *= std::exp(3 * std::clamp(std::log(share / *order_), -2.0, 2.0));
    }
    price = std::clamp(price, 1.1, 64 * 20'000.0);
    return {price, (level_ >= 0 ? Levels::Level(kOf, level_) : day_peak_) * ChargeOf(price)};
  }

  void Window(const Signal& s) {
    if (s.owner_limit.has_value()) owner_limit_ = s.owner_limit;
    day_peak_ = std::max(day_peak_, s.peak);
    const std::optional<double> own =
        level_ >= 0 ? std::optional(Levels::Level(kOf, std::max(level_, ahead_))) : s.owner_limit;
    limit_ = s.limit.value_or(own.value_or(HUGE_VAL));
    prices_ = Prices();
    Pay(NeedsOf(s));
    Remember(s);
    const auto tasks = static_cast<double>(s.tasks.size());
    const auto over = [&](const Need& need) {
      return level_ >= 0 ? tasks * need.share * std::max(0.0, need.usage - limit_) : 0;
    };
    for (const Need& need : NeedsOf(s, kFleetNeedOfCut)) {
      day_used_ += tasks * need.share * need.usage;
      day_over_ += over(need);
    }
    for (const Need& need : NeedsOf(s)) {
      used_ += tasks * need.share * need.usage;
      over_ += over(need);
      if (ahead_ > level_)
        spared_ +=
            tasks * need.share * std::max(0.0, std::min(need.usage, limit_) - Levels::Level(kOf, level_));
    }
    if (level_ < 0) return;
    Judge(s);
    usage_ = IsCut(s, s.peak) ? kNeedOfCut * *s.cut_at : s.peak;
    CheckMove(s.window, usage_ > limit_ || Throttled(s) >= kThrottledFrom);
  }

  void Explained(const Reason& reason) const {
    const auto [price, change] = Prices();
    ASSERT_EQ(reason.facts.size(), 3U);
    EXPECT_NEAR(std::get<double>(reason.facts[0].value), price, 2e-3 * price);
    EXPECT_NEAR(std::get<double>(reason.facts[1].value), change / kWindowsPerHour,
                2e-3 * change / kWindowsPerHour);
    const double near = 2e-3 * change / kWindowsPerHour;
    EXPECT_NEAR(std::get<double>(reason.facts[2].value),
                costs_[static_cast<size_t>(std::max(level_, ahead_))] / kWindowsPerHour, near);
    EXPECT_EQ(reason.cost_unit, "core-hours");
    for (const Candidate& c : reason.candidates) {
      const auto k = static_cast<size_t>(Levels::LevelOf(kOf, static_cast<float>(c.limit)));
      EXPECT_NEAR(c.cost, costs_[k] / kWindowsPerHour, near) << c.name;
    }
    const double share = used_ > 0 ? over_ / used_ : 0;
    if (share > 1e-4 && share < 0.9) {
      const double said = ParseDouble(reason.sentence.substr(0, reason.sentence.find(' '))).value_or(-1);
      EXPECT_NEAR(said / 100, share, 0.06 * share) << reason.sentence;
    }
    EXPECT_THAT(reason.sentence, ::testing::HasSubstr("% ordered "));
    const double hours = (order_.has_value() ? ChargeOf(price) : fleet_.change_windows()) / kWindowsPerHour;
    const size_t at = reason.sentence.find("one change (") + 12;
    const double said =
        ParseDouble(reason.sentence.substr(at, reason.sentence.find(' ', at) - at)).value_or(-1);
    EXPECT_NEAR(said, hours, 0.06 * hours) << reason.sentence;
  }
  void Day(const FleetRows& rows) {
    ASSERT_EQ(rows.size(), day_peak_ > 0 ? 1U : 0U);
    if (!rows.empty()) {
      const FleetWork& work = *rows[0].work;
      EXPECT_NEAR(work.over, day_over_, 2e-3 * day_used_);
      EXPECT_NEAR(work.used, day_used_, 2e-3 * day_used_);
      EXPECT_NEAR(work.size, size(), 1e-5 * size());
      EXPECT_EQ(work.seasoned, !order_.has_value() && *last_ - first_ >= 14 * kWindowsPerDay);
    }
    day_over_ = day_used_ = day_peak_ = 0;
  }
  int moves = 0, raises = 0, foreseen = 0;

  // Records the first limit after the owner's.
  void Start(WindowId window, double limit) {
    LookAhead(window);
    if (level_ >= 0) return;
    level_ = Levels::LevelOf(kOf, static_cast<float>(limit));
    EXPECT_LE(costs_[static_cast<size_t>(level_)], 1e-3 * prices_.second) << "it is not the cheapest";
  }
  // Checks the limit after a window. The recommender may choose any of several equally good limits.
  void After(WindowId next, double limit) {
    const int expected = may_ == Moves::kGoes ? next_least_ : level_;
    const int before = std::exchange(level_, expected);
    LookAhead(next);
    level_ = before;
    int level = Levels::LevelOf(kOf, static_cast<float>(limit));
    if (ahead_ > expected) {
      ++foreseen;
      EXPECT_EQ(level, ahead_);
      level = expected;  // below the hour's raise the level cannot be observed
    }
    if (level != level_) {
      ++moves;
      raises += level > level_;
      EXPECT_NE(may_, Moves::kStays) << level_ << " to " << level;
      EXPECT_GE(level, next_least_);
      EXPECT_LE(level, next_most_);
    } else {
      EXPECT_NE(may_, Moves::kGoes) << level_ << ", expected " << next_least_ << " to " << next_most_;
    }
    level_ = level;
  }

 private:
  enum class Moves : uint8_t { kStays, kMayGo, kGoes };

  void Pay(const std::vector<Need>& needs) {
    for (size_t k = 0; k < costs_.size(); ++k) {
      const double level = Levels::Level(kOf, static_cast<int>(k));
      const double held = ahead_ >= 0 ? std::max(level, Levels::Level(kOf, ahead_)) : level;
      costs_[k] += held;
      for (const Need& n : needs) costs_[k] += prices_.first * n.share * std::max(0.0, n.usage - held);
    }
    const double least = *std::ranges::min_element(costs_);
    for (double& c : costs_) c = std::min(c - least, prices_.second);
  }

  void Remember(const Signal& s) {
    const int32_t window = s.window.index;
    if (!last_.has_value()) first_ = window;
    const double kept = std::exp2(-(window - last_.value_or(window)) / kHalfLife);
    over_ *= kept;
    used_ *= kept;
    spared_ *= kept;
    for (auto& [level, weight] : weights_) weight *= kept;
    for (const Need& n : NeedsOf(s)) weights_[Levels::LevelOf(kOf, static_cast<float>(n.usage))] += n.share;
    last_ = window;
    const bool cut = IsCut(s, s.peak) || Throttled(s) >= kThrottledFrom;
    double& peak = hours_[FloorDiv(window, kWindowsPerHour)];
    peak = std::max(peak, cut ? kNeedOfCut * *s.cut_at : s.peak);
  }

  // Judges the need of tasks at their limit by the first window in which no task is at its limit.
  void Judge(const Signal& s) {
    bool cut = false;
    for (const TaskUsage& t : s.tasks) {
      if (!IsCut(s, t.peak)) continue;
      cut = true;
      cuts_ += 1;
      cut_limits_ += limit_;
      cut_over_ += std::max(0.0, kNeedOfCut * *s.cut_at - limit_);
    }
    if (cut || cuts_ == 0) return;
    const double over = cuts_ * s.peak - cut_limits_;
    if (over > 0) {
      for (double* sum : {&over_, &used_}) *sum = std::max(0.0, *sum + over - cut_over_);
      for (double* sum : {&day_over_, &day_used_})
        *sum = std::max(
            0.0, *sum + over * (cuts_ - 1 + kShareOfFirstWindow) / cuts_ - (kFleetNeedOfCut - 1) * cut_over_);
    }
    cuts_ = cut_limits_ = cut_over_ = 0;
  }

  // Computes the raise for the hour of a window from this hour of the last 7 days, or of the same weekday in
  // 2 weeks.
  void LookAhead(WindowId window) {
    const auto hour = static_cast<int32_t>(FloorDiv(window.index, kWindowsPerHour));
    if (hour == ahead_hour_) return;
    ahead_hour_ = hour;
    ahead_ = -1;
    const double cap = fleet_.settings().job_cap;
    const double most = cap * order_.value_or(fleet_.settings().order(kOf) / price_factor_);
    if (level_ < 0 || cap <= 0 || over_ + spared_ <= most * used_) return;
    std::pair<int, int> burst{-1, -1};
    for (const auto& [count, apart] : {std::pair(7, 24), std::pair(2, 168)}) {
      std::pair<int, int> found{Levels::kLevels, -1};
      for (int i = 1; i <= count; ++i) {
        const auto at = hours_.find(hour - i * apart);
        const int level = at != hours_.end() ? Levels::LevelOf(kOf, at->second) : -1;
        found = {std::min(found.first, level), std::max(found.second, level)};
      }
      if (found.first > level_ && found.second > burst.second) burst = found;
    }
    if (burst.second < 0) return;
    const double held = Levels::Level(kOf, level_);
    const auto [price, change] = Prices();
    const double spared = price * (Levels::Level(kOf, burst.first) - held);
    if (spared >= 12 * (Levels::Level(kOf, burst.second) - held) + change) ahead_ = burst.second;
  }

  // Checks the move of the limit. next_least_ and next_most_ differ only if costs tie.
  void CheckMove(WindowId window, bool over) {
    const double cost = costs_[static_cast<size_t>(level_)] / prices_.second;
    const auto cheapest = Within(costs_, 0, 2e-3 * prices_.second);
    const int seen = Levels::LevelOf(kOf, usage_);
    if (over) {
      may_ = cost < 0.098 ? Moves::kStays : cost > 0.102 ? Moves::kGoes : Moves::kMayGo;
      const int now = std::max(level_, ahead_);
      const auto used = NextUsed(now);
      next_least_ =
          std::min({std::max({cheapest.first, seen - 1, used.first, now + 1}), Levels::kLevels - 1});
      next_most_ =
          std::min({std::max({cheapest.second, seen + 1, used.second, now + 1}), Levels::kLevels - 1});
      return;
    }
    const int yesterday = std::min(Yesterday(window), level_);
    next_least_ = std::max(cheapest.first, yesterday);
    next_most_ = std::max(cheapest.second, yesterday);
    const bool stays = next_least_ <= level_ && level_ <= next_most_;
    may_ = cost < 0.997 ? Moves::kStays : cost >= 1 && !stays ? Moves::kGoes : Moves::kMayGo;
  }
  // Returns the first and the last index, from `from` on, whose value is at most `most`.
  static std::pair<int, int> Within(const std::vector<double>& values, int from, double most) {
    int first = -1, last = -1;
    for (int k = from; k < static_cast<int>(values.size()); ++k) {
      if (values[static_cast<size_t>(k)] > most) continue;
      if (first < 0) first = k;
      last = k;
    }
    return {first, last};
  }
  // Returns the cheapest levels above `now`, whose cost is the reservations plus 20 times the usage above the
  // level.
  std::pair<int, int> NextUsed(int now) const {
    std::vector<double> costs(Levels::kLevels, HUGE_VAL);
    double all = 0;
    for (const auto& [level, weight] : weights_) all += level > now ? weight : 0;
    if (all <= 0) return {now, now};
    for (int k = now + 1; k < Levels::kLevels; ++k) {
      double& cost = costs[static_cast<size_t>(k)] = all * Levels::Level(kOf, k);
      for (const auto& [level, weight] : weights_) {
        if (level > k) cost += 20 * weight * (Levels::Level(kOf, level) - Levels::Level(kOf, k));
      }
    }
    return Within(costs, now + 1, *std::ranges::min_element(costs) * 1.001);
  }
  int Yesterday(WindowId window) const {
    const int32_t hour = static_cast<int32_t>(FloorDiv(window.index, kWindowsPerHour));
    double peak = 0;
    for (int ahead = 1; ahead <= fleet_.look_ahead_hours(); ++ahead) {
      const auto at = hours_.find(hour - 24 + ahead);
      if (at != hours_.end()) peak = std::max(peak, at->second);
    }
    return Levels::LevelOf(kOf, peak);
  }

  const WorkFunctionFleet& fleet_;
  double price_factor_;
  std::optional<double> order_;
  std::vector<double> costs_;
  std::map<int, double> weights_;    // weights of usage by level
  std::map<int64_t, double> hours_;  // the highest usage of each hour
  std::optional<double> owner_limit_;
  std::optional<int32_t> last_;
  int32_t first_ = 0;
  int32_t ahead_hour_ = INT32_MIN;
  int ahead_ = -1;  // the level of the hour's raise
  double spared_ = 0;
  double over_ = 0, used_ = 0, day_over_ = 0, day_used_ = 0, day_peak_ = 0;
  double cuts_ = 0, cut_limits_ = 0, cut_over_ = 0;
  // Price of work above the limit and charge for a change, in the last window.
  std::pair<double, double> prices_;
  double limit_ = HUGE_VAL, usage_ = 0;
  int level_ = -1, next_least_ = 0, next_most_ = 0;
  Moves may_ = Moves::kStays;
};

struct Case {
  std::string name;
  double price_factor = 1;
  std::optional<double> order = std::nullopt;
  bool owner = true, cuts = false;
  size_t tasks = 1;
  double usage = 0.4, burst = 2.5;
  double job_cap = 5;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class WorkFunctionDefinition : public ::testing::TestWithParam<Case> {};

TEST_P(WorkFunctionDefinition, HoldsWindowByWindow) {
  const Case& c = GetParam();
  WorkFunctionSettings settings;
  settings.price = 900;
  settings.cpu_throttled = 0.002;
  settings.job_cap = c.job_cap;
  const WorkFunctionFleet fleet(kOf, settings);
  WorkFunctionRecommender recommender(fleet, OomSettings(), c.price_factor, c.order);
  Definition definition(fleet, c.price_factor, c.order);
  Rng rng(41);
  constexpr int32_t kFirst = 1000 * kWindowsPerDay + 7;
  int32_t window = kFirst;
  double level = 1;
  while (window < kFirst + 25 * kWindowsPerDay && !::testing::Test::HasFailure()) {
    SCOPED_TRACE(window - kFirst);
    if (rng.Below(40) == 0) level = rng.Below(8) == 0 ? c.burst * rng.Uniform(0.6, 1.4) : rng.Uniform(0.7, 1);
    const std::optional<double> limit = recommender.Recommend(WindowId{window});
    if (limit.has_value()) definition.Start(WindowId{window}, *limit);
    ASSERT_EQ(limit.has_value(), window - kFirst >= kWindowsPerDay);
    std::vector<TaskUsage> tasks;
    for (size_t i = 0; i < c.tasks; ++i) {
      const auto usage = static_cast<float>(level * c.usage * rng.Uniform(0.8, 1) * (i == 0 ? 1 : 0.6));
      tasks.push_back({static_cast<uint32_t>(i), usage, usage});
    }
    std::optional<double> cut_at;
    if (c.cuts && limit.has_value() && rng.Below(3) != 0) cut_at = limit;
    for (TaskUsage& t : tasks)
      t.peak = cut_at.has_value() ? std::min(t.peak, static_cast<float>(*cut_at)) : t.peak;
    const MadeSignal made(kOf, window, tasks, c.owner ? std::optional(2 * c.usage) : std::nullopt);
    Signal signal = made;
    if (limit.has_value() && rng.Below(2) == 0)
      signal.limit = *limit * (0.9 + 0.1 * static_cast<double>(rng.Below(3)));
    signal.cut_at = cut_at;
    constexpr double kShares[] = {0, 0, 0, 0.004, 0.01, 0.2, 1};
    if (c.cuts) signal.throttled = kShares[rng.Below(std::size(kShares))];
    recommender.Observe(signal);
    definition.Window(signal);
    if (limit.has_value()) {
      definition.After(WindowId{window + 1}, *recommender.Recommend(WindowId{window + 1}));
      Reason reason;
      recommender.Explain(reason);
      definition.Explained(reason);
    }
    const int32_t day = window / kWindowsPerDay;
    window += rng.Below(30) == 0 ? static_cast<int32_t>(rng.Below(20)) + 2 : 1;
    if (rng.Below(1500) == 0) window += 3 * kWindowsPerDay;  // a gap longer than the hours of the look-ahead
    if (window / kWindowsPerDay == day) continue;
    FleetRows rows;
    recommender.EndDay(day, rows);
    definition.Day(rows);
  }
  EXPECT_GE(definition.moves, 8);
  EXPECT_GE(definition.raises, 4);
}

INSTANTIATE_TEST_SUITE_P(Jobs, WorkFunctionDefinition,
                         ::testing::Values(Case{.name = "one task"}, Case{.name = "no owner", .owner = false},
                                           Case{.name = "three tasks", .tasks = 3},
                                           Case{.name = "batch", .price_factor = 0.25},
                                           Case{.name = "one price", .job_cap = 0},
                                           Case{.name = "its own order", .order = 0.01},
                                           Case{.name = "its own order, cut", .order = 0.002, .cuts = true},
                                           Case{.name = "cut and throttled", .cuts = true, .tasks = 2},
                                           Case{.name = "at the lowest level", .usage = 0.008, .burst = 4}));

}  // namespace
}  // namespace taut::brain
