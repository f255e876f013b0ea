#include "brain/replicas/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "brain/replicas/stored_values.h"
#include "common/model/counted.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

// First price, in units of mean tasks / target share. The constant was selected together with the model's
// constants.
constexpr double kFirstPrice = 0.02;
// Highest rise of the price's logarithm at an overloaded step. The rise is smaller for a small target share.
constexpr double kMostRise = 0.1;
// Largest fall of the price's logarithm at a step that is not overloaded. The fall is smaller after the first
// days, because bursts of an hour must not set the price of the next days.
constexpr double kEarlyFall = 0.001, kLateFall = 0.0005, kEarlyDays = 3;
const double kLeastLogPrice = std::log(1e-4), kMostLogPrice = std::log(1e3);
constexpr size_t kMostCautious = 100'000;  // bound on saved counts; one count per decision in five minutes
// Least gain of a step per started task, as a share of the price of a start: of a rise by more than a share of the
// count, and of a smaller rise, which noise often takes back.
constexpr double kGainOfRise = 0.03, kSmallRise = 0.3, kGainOfSmallRise = 0.2;
constexpr double kLeastLoad = 0.02;  // share of the mean load; logarithms of smaller loads are noise
constexpr int64_t kCautiousHoldUs = 300 * kMicrosPerSecond;

// Version of the state; negative, because older states begin with the number of slots of a day.
constexpr int kStateVersion = -3;
// The version without idle runs and without a price of starts.
constexpr int kVersionWithRegret = -2;
constexpr double kHighestHalfLifeDays = 14, kMostOverHighest = 1.25;

// Returns the text of a chance, also of chances below the least chance that FormatChance distinguishes.
std::string ChanceText(double chance) {
  return chance < 1e-4    ? "under 0.01 %"
         : chance < 0.001 ? fmt::format("of {:.2g} %", 100 * chance)
                          : StrCat("of ", FormatChance(chance));
}

int SlotsPerDay(double step_s) { return std::max(1, static_cast<int>(std::lround(kDaySeconds / step_s))); }

}  // namespace

ForecastPolicy::ForecastPolicy(const ReplicaSettings& settings)
    : settings_(settings),
      model_(SlotsPerDay(settings.step_s),
             std::max(1, static_cast<int>(std::ceil(settings.startup_s / settings.step_s)))),
      log_price_(std::log(kFirstPrice)) {}

int ForecastPolicy::Decide(const LoadSample& sample) {
  if (sample.count() != decided_) {
    set_by_others_ = true;
  } else if (moved_) {
    set_by_others_ = false;
  }
  decided_ = DecideFor(sample);
  moved_ = decided_ != sample.count();
  return decided_;
}

int ForecastPolicy::DecideFor(const LoadSample& sample) {
  at_ = sample.at;
  capacity_ = sample.capacity;
  if (!sample.load.has_value() || !std::isfinite(*sample.load)) {
    basis_ = Basis::kHeld;
    return settings_.bounds.Clamp(sample.count());
  }
  load_ = *sample.load;
  const double tasks = std::min(load_ / capacity_, kMostTasksOfLoad);
  const int64_t step = FloorDiv(sample.at.us, static_cast<int64_t>(settings_.step_s * kMicrosPerSecond));
  if (step > last_step_) {
    ++steps_;
    rises_.Observe(sample.at, load_);
    highest_ =
        std::max(tasks, highest_ * std::exp2(-settings_.step_s / (kHighestHalfLifeDays * kDaySeconds)));
    mean_tasks_ += (tasks - mean_tasks_) *
                   std::clamp(settings_.step_s / kDaySeconds, 1.0 / static_cast<double>(steps_), 1.0);
    model_.Observe(step, std::max(tasks, kLeastLoad * mean_tasks_));
    last_step_ = step;
  }
  if (static_cast<double>(steps_) * settings_.step_s < settings_.forecast.min_history_s) {
    const bool by_analogs = sample.analogs != nullptr && sample.analogs->is_known() && load_ > 0;
    basis_ = by_analogs ? Basis::kAnalogs : Basis::kShortHistory;
    return Cautious(sample);
  }
  // The price adapts only to this policy's own decisions. An overload at the highest useful count is ignored,
  // because no price could prevent the overload.
  const bool overloaded = tasks > settings_.max_utilization * sample.ready * (1 + 1e-12);
  if (!set_by_others_ && !(overloaded && sample.count() >= Most())) Calibrate(overloaded);
  basis_ = Basis::kForecast;
  // The next step can use at most the running tasks, because a new task would not be ready. The step at the end
  // of the start-up time may require more tasks.
  wanted_ = settings_.bounds.Clamp(std::max(std::min(Best(false), sample.count()), Best(true)));
  idle_.Observe(step, wanted_, mean_tasks_ / settings_.max_utilization);
  const int count = settings_.bounds.Clamp(Move(settings_.bounds.Clamp(sample.count())));
  if (!set_by_others_)
    start_price_.Observe(tasks, std::max(0, count - sample.count()), mean_tasks_, settings_.step_s);
  return count;
}

void ForecastPolicy::Calibrate(bool overloaded) {
  const double ordered = settings_.forecast.overloaded;
  // The expected change of the price is 0 if and only if the share of overloaded steps is the target share.
  const bool early = static_cast<double>(steps_) * settings_.step_s < kEarlyDays * kDaySeconds;
  const double fall = std::min(early ? kEarlyFall : kLateFall, kMostRise * ordered);
  log_price_ += fall * ((overloaded ? 1 / ordered : 0) - 1);
  log_price_ = std::clamp(log_price_, kLeastLogPrice, kMostLogPrice);
}

int ForecastPolicy::Most() const {
  return settings_.bounds.Clamp(std::ceil(kMostOverHighest * highest_ / settings_.max_utilization));
}

double ForecastPolicy::Price() const {
  return std::exp(log_price_) * std::max(mean_tasks_, 1.0) / settings_.forecast.overloaded;
}

double ForecastPolicy::Cost(bool far, int count) const {
  return count + Price() * model_.At(far).ChanceAbove(settings_.max_utilization * count);
}

int ForecastPolicy::Best(bool far) const {
  const LoadForecast load = model_.At(far);
  const double price = Price(), tasks_per_count = settings_.max_utilization;
  const double median = load.Median() / tasks_per_count;
  const int most = Most();
  // If even `most` tasks are probably too few, the costs of smaller counts do not differ. The early return also
  // keeps `first` within the range of int.
  if (median * 0.8 - 3 >= most || load.ChanceAbove(tasks_per_count * most) >= 0.5) return most;
  double best_cost = std::numeric_limits<double>::max();
  const int first = std::max(1, static_cast<int>(median * 0.8) - 3);
  // The stride makes the number of loop steps independent of the number of tasks.
  const int stride = std::max(1, static_cast<int>(median / 64));
  int best = first;
  for (int n = first; n < best_cost && n <= most; n += stride) {
    const double risk = price * load.ChanceAbove(tasks_per_count * n);
    if (n + risk < best_cost) {
      best_cost = n + risk;
      best = n;
    }
    if (risk < stride) break;
  }
  return best;
}

int ForecastPolicy::Move(int current) const {
  if (wanted_ <= current) return idle_.Keep(current, StartCost());
  const double gain = Cost(true, current) - Cost(true, wanted_);
  const double least = wanted_ <= (1 + kSmallRise) * current ? kGainOfSmallRise : kGainOfRise;
  return gain < least * StartCost() * (wanted_ - current) ? current : wanted_;
}

int ForecastPolicy::Cautious(const LoadSample& sample) {
  const int need =
      basis_ == Basis::kAnalogs
          ? BestByAnalogs(*sample.analogs)
          : settings_.bounds.Clamp(std::ceil(load_ / (settings_.forecast.fallback_target * sample.capacity)));
  while (!cautious_.empty() && cautious_.back().count <= need) cautious_.pop_back();
  cautious_.push_back({sample.at, need});
  while (sample.at.us - cautious_.front().at.us >= kCautiousHoldUs) cautious_.erase(cautious_.begin());
  return wanted_ = cautious_.front().count;
}

std::optional<LoadBand> ForecastPolicy::Forecast() const {
  if (basis_ != Basis::kForecast) return std::nullopt;
  const LoadForecast load = model_.At(true);
  const auto ahead_us = static_cast<int64_t>(model_.steps_ahead() * settings_.step_s * kMicrosPerSecond);
  return LoadBand{.at = {at_.us + ahead_us},
                  .low = load.WithChanceAbove(0.9) * capacity_,
                  .high = load.WithChanceAbove(0.1) * capacity_};
}

int ForecastPolicy::BestByAnalogs(const LoadAnalogs& analogs) {
  const double least = load_ / capacity_ / settings_.max_utilization;  // number of tasks for the current load
  const auto chance = [&](double count) { return analogs.ChanceAbove(count / least); };
  int best = settings_.bounds.Clamp(std::ceil(least));
  double best_cost = best + Price() * chance(best);
  // The recorded load changes do not distinguish ratios above 16.
  const double most = std::min<double>(settings_.bounds.max, 16 * least + 1);
  const double stride = std::max(1.0, std::floor(least / 64));
  for (double n = best + stride; n <= most && n < best_cost; n += stride) {
    const double cost = n + Price() * chance(n);
    if (cost >= best_cost) continue;
    best_cost = cost;
    best = settings_.bounds.Clamp(n);
  }
  rise_chance_ = chance(best);
  return best;
}

void ForecastPolicy::Explain(Reason& reason) const {
  reason.recommender = "forecast";
  if (basis_ == Basis::kHeld) {
    reason.sentence = fmt::format("The load was not measured, so the count stays {}.", decided_);
    return;
  }
  if (basis_ == Basis::kShortHistory) {
    reason.sentence = fmt::format(
        "There are {:.1f} h of history and a forecast needs {:.4g} h: {} to keep the highest load of 5 min "
        "at {:.0f} %.",
        static_cast<double>(steps_) * settings_.step_s / 3600, settings_.forecast.min_history_s / 3600,
        Counted(static_cast<uint64_t>(decided_), "task"), settings_.forecast.fallback_target * 100);
    return;
  }
  if (basis_ == Basis::kAnalogs) {
    reason.sentence = fmt::format(
        "There are {:.1f} h of history and a forecast needs {:.4g} h. If the load {:.4g} moves as those of "
        "the other jobs do while a task starts, {} cost least.",
        static_cast<double>(steps_) * settings_.step_s / 3600, settings_.forecast.min_history_s / 3600, load_,
        FormatAmount(Target::Replicas(), decided_));
    if (rise_chance_.has_value()) {
      reason.chance = rise_chance_;
      reason.facts.push_back({"chance of overload", *rise_chance_ * 100, "%"});
    }
    return;
  }
  const LoadForecast far = model_.At(true);
  const double chance = far.ChanceAbove(settings_.max_utilization * decided_);
  reason.sentence = fmt::format(
      "When a task started now is ready, a load of {:.4g} is expected (now {:.4g}); {} would be above "
      "{:.0f} % utilisation with a chance {}.",
      far.Median() * capacity_, load_, FormatAmount(Target::Replicas(), decided_),
      settings_.max_utilization * 100, ChanceText(chance));
  const QuarterRises::Answer rises = rises_.At(at_);
  if (rises.days > 0) {
    reason.sentence +=
        fmt::format(" On {} of the last {} days load rose by more than {:.0f} % in this quarter of an hour.",
                    rises.above, rises.days, rises.share * 100);
  }
  if (decided_ > wanted_)
    reason.sentence +=
        fmt::format(" {} would do; stopping the others is not yet worth starting them again.", wanted_);
  reason.chance = chance;
  reason.facts.push_back({"expected load", far.Median() * capacity_, ""});
  reason.facts.push_back({"price of an overloaded minute", Price() * settings_.step_s / 60, "task-minutes"});
  reason.facts.push_back({"price of a start", StartCost() * settings_.step_s / 60, "task-minutes"});
  reason.facts.push_back({"count with the least cost", static_cast<double>(wanted_), "tasks"});
}

void ForecastPolicy::Save(ByteWriter& out) const {
  out.Put(kStateVersion);
  out.Put(model_.slots_per_day());
  out.Put(model_.steps_ahead());
  model_.Save(out);
  rises_.Save(out);
  PutOptional(last_step_ == INT64_MIN ? std::nullopt : std::optional(last_step_), out);
  out.Put(steps_);
  for (const double v : {mean_tasks_, log_price_, load_, capacity_}) out.Put(v);
  out.PutVarint(cautious_.size());
  for (const Wanted& w : cautious_) {
    out.Put(w.at.us);
    out.Put(w.count);
  }
  out.Put(static_cast<uint8_t>(basis_));
  out.Put(static_cast<uint8_t>(set_by_others_));
  out.Put(static_cast<uint8_t>(moved_));
  out.Put(highest_);
  out.Put(at_.us);
  out.Put(wanted_);
  out.Put(decided_);
  idle_.Save(out);
  start_price_.Save(out);
}

absl::Status ForecastPolicy::Load(ByteReader& in) {
  StoredValues values(in);
  ForecastPolicy fresh(settings_);
  const int version = in.Get<int>();
  if (version != kStateVersion && version != kVersionWithRegret)
    return absl::InvalidArgumentError("forecast: the state is of another version");
  const int slots = values.Count(), ahead = values.Count();
  if (values.ok() && (slots != model_.slots_per_day() || ahead != model_.steps_ahead()))
    return absl::InvalidArgumentError("forecast: the state has another step or start-up time");
  fresh.model_.Load(values);
  fresh.rises_.Load(values);
  fresh.last_step_ = values.OptionalStep().value_or(INT64_MIN);
  fresh.steps_ = values.Within<int64_t>(0, INT64_MAX / 2);
  fresh.mean_tasks_ = values.Amount();
  fresh.log_price_ = values.Within(kLeastLogPrice, kMostLogPrice);
  if (version == kVersionWithRegret) (void)values.Amount();
  fresh.load_ = values.Finite();
  fresh.capacity_ = values.Amount();
  for (size_t n = values.Size(kMostCautious); n > 0 && values.ok(); --n) {
    const Timestamp at = values.Time();
    fresh.cautious_.push_back({at, values.Count()});
  }
  fresh.basis_ = static_cast<Basis>(values.Within<uint8_t>(0, static_cast<uint8_t>(Basis::kAnalogs)));
  fresh.set_by_others_ = values.Bool();
  fresh.moved_ = values.Bool();
  fresh.highest_ = values.Amount();
  fresh.at_ = values.Time();
  fresh.wanted_ = values.Count();
  fresh.decided_ = values.Count();
  if (version == kStateVersion) {
    fresh.idle_.Load(values);
    fresh.start_price_.Load(values);
  }
  if (absl::Status s = values.status("forecast"); !s.ok()) return s;
  *this = std::move(fresh);
  return absl::OkStatus();
}

size_t ForecastPolicy::state_bytes() const {
  return sizeof(*this) - sizeof(model_) + model_.state_bytes() + rises_.heap_bytes() +
         cautious_.capacity() * sizeof(Wanted);
}

}  // namespace taut::brain
