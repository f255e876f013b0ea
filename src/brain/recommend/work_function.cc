#include "brain/recommend/work_function.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "brain/recommend/stored_values.h"
#include "brain/recommend/wrappers.h"

namespace taut::brain {
namespace {

// Control of the price (docs/algorithms/vertical.md): the initial price for a target share, the speed of
// changes, and the decay of past work.
constexpr double kStartPrice = 1430;  // price at a target share of kStartShare
constexpr double kStartShare = 0.001;
constexpr double kStartSlope = -1.77;
// The logarithm of the price moves by the misses times a gain, which falls with the mean square of the misses.
constexpr double kMostGain = 1, kLeastGain = 0.03;
constexpr double kMostStep = 1;                         // highest move of a day
constexpr double kMostMiss = 50;                        // greatest miss that is noted as noise
constexpr double kNoisePrior = 4, kNoisePriorDays = 3;  // assumed mean square, and its weight
constexpr double kSmallFleet = 30;                      // number of jobs at which the gain is half
const double kNoiseDecay = std::exp2(-1.0 / 60);
constexpr double kLeastPrice = 10, kMostPrice = 20'000;
constexpr double kControlled = -1;               // first value of a state with the control of the price
const double kFleetDecay = std::exp2(-1.0 / 7);  // decay per day, with a half-life of 7 days
constexpr int32_t kSeasonedWindows = 14 * kWindowsPerDay;  // younger jobs do not change the price
// The charge for a change, in windows of a mean job's limit.
constexpr double kLeastCharge = 45, kChargeOfPrice = 2.5;
constexpr double kPriceOfHour = 300;  // each hour of look-ahead requires this price
constexpr int kMostHours = 8;
// Half-life of the job's own usage (14 days) and price of usage above a level. The price determines the height
// of a raise.
constexpr double kOwnHalfLifeWindows = 14 * kWindowsPerDay;
constexpr double kRaisePrice = 20;
// Share of the charge for a change. Overruns are ignored while the limit has cost less than this share.
constexpr double kTriflingCost = 0.1;
constexpr double kMostJobPrice = 64;  // highest price of a job, as a multiple of the fleet's price
// Price of a job with its own target share. kOwnSlope is the sensitivity to the work above the limits, kOwnMost
// the greatest logarithm of the correction. kOwnPriorWindows is the history for which the target share is
// assumed.
constexpr double kOwnSlope = 3, kOwnMost = 2;
constexpr double kOwnPriorWindows = 3 * kWindowsPerDay;
constexpr double kLeastOwnPrice = 1.1;  // at a price of 1, no reservation is worth its cost
constexpr float kRescaleAt = 1e15F;
// Usage at the limit counts as a need of this multiple of the limit. With a smaller factor, the limit would
// settle at a level that throttles work.
constexpr double kNeedAtLimit = 2;
// The need that the fleet's count of work assumes, as a multiple of the limit, and the share of the first window
// at a limit in which the tasks had the need that a later window shows. The job's own sums keep the higher need:
// with a lower one, bursts that the limit cuts off would not raise the limit ahead of their hour.
constexpr double kFleetNeedAtLimit = 1.3;
constexpr float kShareOfFirstWindow = 0.5F;

constexpr double FirstLevel(Resource r) { return UnitOf(r).small_amount; }

using Levels = std::array<float, WorkFunctionRecommender::kLevels>;

// Calls fn(usage, share, is_cut) for each part of the tasks' time, with its share of this time. is_cut: the limit
// `usage` hides the need, because the usage was at the limit or the periods were throttled.
template <typename Fn>
void ForEachPart(const Signal& signal, Fn fn) {
  const float share = 1 / static_cast<float>(signal.tasks.size());
  const double throttled = ThrottledShareBelow(signal);
  for (const TaskUsage& t : signal.tasks) {
    if (IsAtLimit(signal, t.peak)) {
      fn(*signal.cut_at, share, true);
    } else if (throttled > 0) {
      const double cut_at = *signal.cut_at;
      fn(cut_at, static_cast<float>(share * throttled), true);
      if (throttled == 1) continue;
      const double rest = std::max(0.0, (t.peak - throttled * cut_at) / (1 - throttled));
      fn(rest, static_cast<float>(share * (1 - throttled)), false);
    } else {
      fn(double{t.peak}, share, false);
    }
  }
}

// Returns the need in a part of ForEachPart(), if a hidden need is `at_limit` times the limit.
float NeedIn(double usage, bool is_cut, double at_limit = kNeedAtLimit) {
  return static_cast<float>(is_cut ? at_limit * usage : usage);
}

// Returns the charge for a change, in windows of a job's limit.
double ChargeOf(double price, const WorkFunctionSettings& settings) {
  return settings.change_scale * std::max(kLeastCharge, kChargeOfPrice * std::sqrt(price));
}

const Levels& LevelsOf(Resource r) {
  static const PerResource<Levels> kAll = [] {
    PerResource<Levels> all;
    for (const Resource resource : kResources) {
      for (int k = 0; k < WorkFunctionRecommender::kLevels; ++k) {
        all[static_cast<size_t>(resource)][static_cast<size_t>(k)] =
            static_cast<float>(WorkFunctionRecommender::Level(resource, k));
      }
    }
    return all;
  }();
  return kAll[static_cast<size_t>(r)];
}

}  // namespace

WorkFunctionFleet::WorkFunctionFleet(Resource resource, const WorkFunctionSettings& settings)
    : resource_(resource), settings_(settings) {
  SetPrice(kStartPrice, kStartShare);
}

// Sets the price for the current target share by scaling `price`, the price for a target share of `share`.
void WorkFunctionFleet::SetPrice(double price, double share) {
  const double scaled = price * std::pow(settings_.order(resource_) / share, kStartSlope);
  price_ = settings_.price > 0 ? settings_.price : std::clamp(scaled, kLeastPrice, kMostPrice);
}

double WorkFunctionFleet::PriceFor(double share) const {
  if (settings_.price > 0) return price_ * std::pow(share / settings_.order(resource_), kStartSlope);
  return kStartPrice * std::pow(share / kStartShare, kStartSlope);
}

WorkFunctionFleet WorkFunctionFleet::With(const WorkFunctionSettings& settings) const {
  WorkFunctionFleet copy(resource_, settings);
  copy.mean_size_ = mean_size_;
  copy.over_ = over_;
  copy.used_ = used_;
  copy.control_ = control_;
  if (settings_.price <= 0) copy.SetPrice(price_, settings_.order(resource_));
  return copy;
}

double WorkFunctionFleet::change_windows() const { return ChargeOf(price_, settings_); }

int WorkFunctionFleet::look_ahead_hours() const {
  return static_cast<int>(std::min<double>(kMostHours, price_ / kPriceOfHour));
}

void WorkFunctionFleet::CloseDay(const FleetRows& rows) {
  WorkShare share;
  for (const FleetRow& row : rows) {
    if (row.work.has_value()) share.Add(*row.work);
  }
  CloseDay(share);
}

void WorkFunctionFleet::CloseDay(const WorkShare& day) {
  const double used = day.used.value();
  if (day.jobs > 0) mean_size_ = day.size.value() / static_cast<double>(day.jobs);
  if (used <= 0) return;
  over_ = kFleetDecay * over_ + day.over.value();
  used_ = kFleetDecay * used_ + used;
  if (settings_.price <= 0) MovePrice(day);
}

// Adaptive conformal inference: the price integrates the misses, so that their mean vanishes whatever the jobs do,
// unless the price is at a bound. The gain depends on earlier days alone and does not weigh misses by their sign.
void WorkFunctionFleet::MovePrice(const WorkShare& day) {
  const double over = day.over.value(), used = day.used.value();
  Control& c = control_;
  c.work_days = kFleetDecay * c.work_days + 1;
  const double ordered = settings_.order(resource_) * used_ / c.work_days;
  const double miss = (over - settings_.order(resource_) * used) / ordered;
  const double noise = (kNoisePrior * kNoisePriorDays + c.squares) / (kNoisePriorDays + c.days);
  const double fleet = static_cast<double>(day.jobs) / (static_cast<double>(day.jobs) + kSmallFleet);
  const double gain = fleet * std::max(kLeastGain, kMostGain / ((1 + noise) * (1 + noise)));
  c.owed += miss;
  const double step = std::clamp(gain * c.owed, -kMostStep, kMostStep);
  const double moved = price_ * std::exp(step);
  price_ = std::clamp(moved, kLeastPrice, kMostPrice);
  c.owed = price_ == moved ? c.owed - step / gain : 0;
  c.squares = kNoiseDecay * c.squares + std::pow(std::min(std::abs(miss), kMostMiss), 2);
  c.days = kNoiseDecay * c.days + 1;
}

void WorkFunctionFleet::Save(ByteWriter& out) const {
  Control c = control_;
  out.Put(kControlled);
  for (const double v : {settings_.order(resource_), price_, mean_size_, over_, used_}) out.Put(v);
  for (const double* v : c.fields()) out.Put(*v);
}

absl::Status WorkFunctionFleet::Load(ByteReader& in) {
  double read[5] = {in.Get<double>()};
  const bool controlled = read[0] == kControlled;
  if (controlled) read[0] = in.Get<double>();
  bool possible = IsStoredAmount(read[0]);
  for (double& v : std::span(read).subspan(1)) {
    v = in.Get<double>();
    possible = possible && IsStoredAmount(v);
  }
  // An older state has no control: its sums are those of many days.
  Control control{.work_days = 1 / (1 - kFleetDecay)};
  for (double* v : control.fields()) {
    if (controlled) *v = in.Get<double>();
    possible = possible && std::isfinite(*v) && (v == &control.owed || *v >= 0);
  }
  if (absl::Status s = in.status("work function: fleet"); !s.ok()) return s;
  if (!possible || read[0] <= 0 || read[1] <= 0) {
    return absl::DataLossError("work function: an impossible order, price or sum");
  }
  SetPrice(read[1], read[0]);
  mean_size_ = read[2];
  over_ = read[3];
  used_ = read[4];
  control_ = control;
  return absl::OkStatus();
}

WorkFunctionRecommender::WorkFunctionRecommender(const WorkFunctionFleet& fleet, OomSettings oom,
                                                 double price_factor, std::optional<double> order)
    : fleet_(&fleet), oom_(oom), price_factor_(price_factor), order_(order) {}

double WorkFunctionRecommender::PriceFactor(JobClass job_class) {
  switch (job_class) {
    case JobClass::kBatch:
      return 0.25;
    case JobClass::kServingTolerant:
      return 0.5;
    case JobClass::kServing:
      break;
  }
  return 1;
}

double WorkFunctionRecommender::Level(Resource resource, int k) {
  return FirstLevel(resource) * std::exp2(static_cast<double>(k) / kLevelsPerOctave);
}

int WorkFunctionRecommender::LevelOf(Resource resource, double usage) {
  const double first = FirstLevel(resource);
  if (usage <= first) return 0;
  // Without the tolerance, a level's value that was rounded up to a float would belong to the next level.
  const double octaves = std::log2(usage / first);
  return static_cast<int>(std::clamp(std::ceil(octaves * kLevelsPerOctave - 1e-4), 0.0, kLevels - 1.0));
}

double WorkFunctionRecommender::OwnPrice() const {
  double price = fleet_->PriceFor(*order_);
  if (used_ > 0) {
    const double prior = kOwnPriorWindows / (last_window_ - first_window_ + 1.0);
    const double share = (over_ / used_ + *order_ * prior) / (1 + prior);
    price *= std::exp(kOwnSlope * std::clamp(std::log(share / *order_), -kOwnMost, kOwnMost));
  }
  return std::clamp(price, kLeastOwnPrice, kMostJobPrice * kMostPrice);
}

// A job with far more work above its limits than the target pays a higher price. A job with its own target share
// has its own price.
WorkFunctionRecommender::Prices WorkFunctionRecommender::PricesNow() const {
  const WorkFunctionSettings& s = fleet_->settings();
  Prices p{price_factor_ * fleet_->price(),
           fleet_->change_charge(owner_limit_ >= 0 ? owner_limit_ : day_peak_)};
  if (order_.has_value()) {
    p.over = OwnPrice();
    // The charge depends on the job's own size and price, because the cost at which a limit falls determines how
    // long a burst has an effect.
    const double size = level_ >= 0 ? Level(fleet_->resource(), level_) : day_peak_;
    p.change = size * ChargeOf(p.over, s);
    return p;
  }
  const double most = MostShare();
  if (s.job_cap > 0 && used_ > 0 && over_ > most * used_) {
    const double times = over_ / (most * used_);
    p.over *= std::min(times * times, kMostJobPrice);
  }
  return p;
}

// Adds the window's cost to every level: the level's reservation, and the priced usage above the level. A raise
// for the hour also applies to the levels below the raise.
void WorkFunctionRecommender::Pay(const Signal& signal, const Prices& prices) {
  const Levels& levels = LevelsOf(fleet_->resource());
  const auto price = static_cast<float>(prices.over);
  const float usage = signal.tasks.front().peak;
  Levels costs;
  cost_.Get(costs);
  const int ahead = AheadAt(signal.window.index);
  const float floor = ahead >= 0 ? levels[static_cast<size_t>(ahead)] : 0;
  if (signal.tasks.size() == 1 && !IsAtLimit(signal, usage) && ThrottledShare(signal) == 0) {
    for (size_t k = 0; k < kLevels; ++k) {
      const float held = std::max(levels[k], floor);
      const float above = usage - held;
      costs[k] += held + price * (above > 0 ? above : 0);
    }
  } else {
    // For each level: the share of the tasks' time with a need above the level, and the sum of these needs.
    std::array<float, kLevels> count{};
    std::array<float, kLevels> sum{};
    ForEachPart(signal, [&](double usage, float share, bool is_cut) {
      const float need = NeedIn(usage, is_cut);
      const auto at = static_cast<size_t>(LevelOf(fleet_->resource(), need));
      count[at] += share;
      sum[at] += share * need;
    });
    float above_count = 0;
    float above_sum = 0;
    float over = 0;
    for (size_t k = kLevels; k-- > 0;) {
      if (levels[k] >= floor) over = std::max(0.0F, above_sum - above_count * levels[k]);
      costs[k] += std::max(levels[k], floor) + price * over;
      above_count += count[k];
      above_sum += sum[k];
    }
  }
  float least = costs[0];
  for (const float c : costs) least = std::min(least, c);
  const auto change = static_cast<float>(prices.change);
  // The best schedule can move from the cheapest level to any other level for one change, so no level costs more
  // than this move. Subtracting the least cost keeps the floats small: only differences matter.
  for (float& c : costs) c = std::min(c - least, change);
  cost_.Set(costs);
}

void WorkFunctionRecommender::Remember(const Signal& signal) {
  const int32_t window = signal.window.index;
  const bool cut = IsCut(signal);
  const auto peak = static_cast<float>(cut ? kNeedAtLimit * *signal.cut_at : signal.peak);
  hours_.Add(HourOf(window), LevelOf(fleet_->resource(), peak));

  const int32_t elapsed = last_window_ == INT32_MIN ? 0 : std::max(0, window - last_window_);
  static const float kGrowth = static_cast<float>(std::exp2(1 / kOwnHalfLifeWindows));
  const float growth =
      elapsed == 1 ? kGrowth : static_cast<float>(std::exp2(std::min(elapsed / kOwnHalfLifeWindows, 40.0)));
  // Forward decay: raise the weight of new windows instead of lowering the weights of all levels.
  weight_ *= growth;
  for (float* sum : {&over_, &used_, &spared_, &start_over_}) *sum /= growth;
  if (weight_ > kRescaleAt) {
    for (float& w : weights_.values()) w /= weight_;
    weight_ = 1;
  }
  ForEachPart(signal, [this](double usage, float share, bool is_cut) {
    const float need = NeedIn(usage, is_cut);
    *weights_.FindOrInsert(static_cast<Bucket>(LevelOf(fleet_->resource(), need))) += weight_ * share;
  });
  if (last_window_ == INT32_MIN) first_window_ = window;
  last_window_ = std::max(last_window_, window);
}

// While tasks are at their limit, counts the assumed work above the limits. Corrects this work in the first
// window without a task at its limit: a peak above the earlier limits replaces the assumed need. A lower peak
// proves nothing and keeps the assumption.
void WorkFunctionRecommender::JudgeCuts(const Signal& signal, double limit) {
  if (!signal.cut_at.has_value() && cuts_.windows <= 0) return;
  const double assumed = std::max(0.0, kNeedAtLimit * signal.cut_at.value_or(0) - limit);
  if (cuts_.Take(signal, limit, assumed) || cuts_.windows <= 0) return;
  const float more = cuts_.Correction(signal.peak);
  for (float* sum : {&over_, &used_}) *sum = std::max(0.0F, *sum + more);
  // The fleet has counted this part of the assumed work, since the limit in force is the one that cut the usage.
  constexpr auto kCounted = static_cast<float>((kFleetNeedAtLimit - 1) / (kNeedAtLimit - 1));
  const float fleets = cuts_.Correction(signal.peak, kShareOfFirstWindow, kCounted);
  for (float* sum : {&day_over_, &day_used_}) *sum = std::max(0.0F, *sum + fleets);
  cuts_ = {};
}

void WorkFunctionRecommender::CountWork(const Signal& signal, double limit) {
  const auto tasks = static_cast<float>(signal.tasks.size());
  const bool ahead = AheadAt(signal.window.index) > level_;
  const double lower = level_ >= 0 ? Level(fleet_->resource(), level_) : HUGE_VAL;
  const auto count = [&](float need, float share, float& over, float& used) {
    const auto above = static_cast<float>(need > limit ? need - limit : 0);
    used += tasks * share * need;
    over += level_ >= 0 ? tasks * share * above : 0;
  };
  ForEachPart(signal, [&](double usage, float share, bool is_cut) {
    const float need = NeedIn(usage, is_cut);
    count(need, share, over_, used_);
    count(NeedIn(usage, is_cut, kFleetNeedAtLimit), share, day_over_, day_used_);
    if (ahead)
      spared_ += tasks * share * static_cast<float>(std::max(0.0, std::min<double>(need, limit) - lower));
  });
  int64_t highest = known_tasks_[0];
  for (const TaskUsage& t : signal.tasks) {
    highest = std::max<int64_t>(highest, t.task);
    if (level_ < 0 || t.task <= known_tasks_[1]) continue;
    const double need = IsAtLimit(signal, t.peak) ? kNeedAtLimit * *signal.cut_at : double{t.peak};
    start_over_ += static_cast<float>(std::max(0.0, need - limit));
  }
  known_tasks_ = {highest, known_tasks_[0]};
}

void WorkFunctionRecommender::Observe(const Signal& signal) {
  if (signal.tasks.empty()) return;
  if (signal.owner_limit.has_value()) owner_limit_ = static_cast<float>(*signal.owner_limit);
  day_peak_ = std::max(day_peak_, static_cast<float>(signal.peak));
  const std::optional<double> own =
      level_ >= 0 ? std::optional(Level(fleet_->resource(), LevelAt(signal.window.index)))
                  : signal.owner_limit;
  const double limit = signal.limit.value_or(own.value_or(HUGE_VAL));
  // This call must precede the counting of the window, so that an overrun does not raise its own price.
  const Prices prices = PricesNow();
  Pay(signal, prices);
  Remember(signal);
  CountWork(signal, limit);
  if (level_ < 0) return;
  JudgeCuts(signal, limit);
  const double usage = IsAtLimit(signal, signal.peak) ? kNeedAtLimit * *signal.cut_at : signal.peak;
  Decide(signal.window, usage, usage > limit || ThrottledShare(signal) >= kThrottledShare, prices);
}

// Observes the assumed need, because the limit cut off the usage.
void WorkFunctionRecommender::ObserveOom(const OomEvent& event) {
  const double need = OomBump(event.limit, oom_);
  const TaskUsage task{event.task, static_cast<float>(need), static_cast<float>(need)};
  Signal signal{.window = event.window, .buckets = {}, .tasks = {&task, 1}, .owner_limit = {}};
  signal.peak = need;
  Pay(signal, PricesNow());
  Remember(signal);
  if (level_ >= 0) MoveTo(std::max(level_, LevelOf(fleet_->resource(), need)), Move::kRaise, need);
}

int WorkFunctionRecommender::Cheapest() const {
  Levels costs;
  cost_.Get(costs);
  return static_cast<int>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

// Returns the target of a raise from level `above`: the level with the lowest cost for the job's past usage above
// `above`. The cost is the reservation plus kRaisePrice times the usage above the level.
int WorkFunctionRecommender::NextUsedLevel(int above) const {
  const Levels& levels = LevelsOf(fleet_->resource());
  Levels weights{};
  weights_.ForEach([&](Bucket k, const float* weight) { weights[k] = *weight; });
  double all = 0;
  for (int k = above + 1; k < kLevels; ++k) all += weights[static_cast<size_t>(k)];
  if (all <= 0) return above;
  double count = 0;
  double sum = 0;
  double best = HUGE_VAL;
  int at = kLevels - 1;
  for (int k = kLevels - 1; k > above; --k) {
    const auto i = static_cast<size_t>(k);
    const double cost = levels[i] * all + kRaisePrice * (sum - count * levels[i]);
    if (cost <= best) {
      best = cost;
      at = k;
    }
    count += weights[i];
    sum += static_cast<double>(weights[i]) * levels[i];
  }
  return at;
}

void WorkFunctionRecommender::Decide(WindowId window, double usage, bool over, const Prices& prices) {
  const double cost = cost_.At(level_);
  if (over) {
    if (cost < kTriflingCost * prices.change) return;
    const int seen = std::max(Cheapest(), LevelOf(fleet_->resource(), usage));
    const int now = LevelAt(window.index);
    MoveTo(std::min(std::max({seen, NextUsedLevel(now), now + 1}), kLevels - 1), Move::kRaise, usage);
    return;
  }
  // The work function, stored as floats, is capped at one change: a level at the cap costs more than another
  // level.
  if (cost < 0.9999 * prices.change) return;
  const int level = std::max(Cheapest(), std::min(YesterdaysLevel(window), level_));
  MoveTo(level, level < level_ ? Move::kFall : Move::kRaise, usage);
}

void WorkFunctionRecommender::MoveTo(int level, Move move, double usage) {
  if (level == level_) return;
  move_ = move;
  move_usage_ = static_cast<float>(usage);
  move_from_ = level_ >= 0 ? static_cast<float>(Level(fleet_->resource(), level_)) : 0;
  level_ = level;
}

std::optional<double> WorkFunctionRecommender::Recommend(WindowId next) {
  if (last_window_ == INT32_MIN) return std::nullopt;
  if (level_ < 0) {
    const double age_s = static_cast<double>(next.index - first_window_) * kWindowSeconds;
    if (age_s < fleet_->settings().min_history_s) return std::nullopt;
    MoveTo(Cheapest(), Move::kStart, day_peak_);
  }
  if (HourOf(next.index) != ahead_.hour) LookAhead(HourOf(next.index));
  return Level(fleet_->resource(), LevelAt(next.index));
}

void WorkFunctionRecommender::EndDay(int32_t, FleetRows& rows) {
  if (day_used_ > 0 || day_peak_ > 0) {
    FleetRow row;
    row.work = FleetWork{.over = day_over_,
                         .used = day_used_,
                         .size = owner_limit_ >= 0 ? owner_limit_ : day_peak_,
                         .seasoned = !order_.has_value() && last_window_ - first_window_ >= kSeasonedWindows};
    rows.push_back(row);
  }
  day_over_ = day_used_ = day_peak_ = 0;
}

}  // namespace taut::brain
