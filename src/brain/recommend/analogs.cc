#include "brain/recommend/analogs.h"

#include <algorithm>
#include <cmath>

#include "brain/recommend/stored_values.h"
#include "brain/recommend/wrappers.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

// Calibration of the ordered share (docs/algorithms.md): how long the past counts, how strongly a debt is
// worked off, how fast the price follows.
constexpr double kJudgeDecay = 0.95;
constexpr double kJudgePrior = 10;  // OOM-days
constexpr double kDebtDecay = 0.98;
constexpr double kDebtDays = 14;
constexpr double kPriceStep = 0.1;  // of the way, in the logarithm; more in the first days
constexpr double kJobPrior = 1;     // OOM-days, for a job with an order of its own
// A job's own warnings, against the fleet's.
constexpr float kWarningDecay = 0.95F;
constexpr double kWarningPrior = 2;

// In the first byte of a checkpoint.
constexpr uint8_t kHasDay = 2;
constexpr uint8_t kHasPromise = 4;
constexpr uint8_t kHasTasks = 8;

// Peaks are floats.
constexpr double kSamePeak = 1e-6;

}  // namespace

AnalogFleet::AnalogFleet(Resource resource, const AnalogSettings& settings)
    : resource_(resource),
      settings_(settings),
      rng_(Rng(settings.seed).Fork(static_cast<uint64_t>(resource))) {}

double AnalogFleet::ordered_share() const { return settings_.order(resource_); }

void AnalogFleet::Learn(const FleetRows& rows) {
  const auto capacity = static_cast<size_t>(settings_.max_rows);
  double limits = 0;
  for (const FleetRow& row : rows) {
    limits += row.tomorrow.owner_limit >= 0 ? row.tomorrow.owner_limit : row.tomorrow.week_peak;
    if (!row.lesson.has_value()) continue;
    ++rows_seen_;
    const DistributionForest::Row sample{row.lesson->features, row.lesson->outcome};
    if (history_.size() < capacity) {
      history_.push_back(sample);
    } else if (const uint64_t at = rng_.Below(rows_seen_); at < capacity) {
      history_[at] = sample;  // reservoir: every row of the past is equally likely to be here
    }
  }
  if (!rows.empty()) mean_limit_ = limits / static_cast<double>(rows.size());
}

void AnalogFleet::Judge(const FleetRows& rows) {
  double promised = 0;
  double realised = 0;
  double judged = 0;
  for (const FleetRow& row : rows) {
    if (!row.verdict.has_value()) continue;
    judged += 1;
    promised += row.verdict->promised;
    realised += row.verdict->overrun ? 1 : 0;
  }
  double warnings = 0;
  double came_true = 0;
  for (const FleetRow& row : rows) {
    if (!row.warning_came_true.has_value()) continue;
    warnings += 1;
    came_true += *row.warning_came_true ? 1 : 0;
  }
  warnings_ = kJudgeDecay * warnings_ + warnings;
  warnings_true_ = kJudgeDecay * warnings_true_ + came_true;
  if (judged == 0) return;
  promised_ = kJudgeDecay * promised_ + promised;
  realised_ = kJudgeDecay * realised_ + realised;
  debt_ = kDebtDecay * debt_ + ordered_share() - realised / judged;
}

AnalogCdf AnalogFleet::Forecast(const AnalogCase& job) const {
  float shares[AnalogGrid::kBins];
  forest_.Predict(job.features, shares);
  return MixForecast(shares, job.own, settings_.fleet_weight);
}

double AnalogFleet::PriceFor(double share) const {
  std::vector<AnalogCdf> cdfs;
  for (const AnalogCase& job : priced_jobs_) cdfs.push_back(Forecast(job));
  return SolvePrice(cdfs, priced_jobs_, resource_, share, settings_);
}

AnalogFleet AnalogFleet::ForecasterFor(double share) const {
  AnalogSettings settings = settings_;
  settings.order(resource_) = share;
  AnalogFleet copy(resource_, settings);
  copy.forest_ = forest_;
  copy.price_ = price_;
  copy.mean_limit_ = mean_limit_;
  copy.warnings_ = warnings_;
  copy.warnings_true_ = warnings_true_;
  if (share == ordered_share() || priced_jobs_.empty() || !ready()) return copy;
  // The price in force is corrected for promises not kept; so is this one.
  const double solved = PriceFor(ordered_share());
  copy.priced_jobs_ = priced_jobs_;
  if (solved > 0) copy.price_ = copy.PriceFor(share) * price_ / solved;
  copy.priced_jobs_.clear();
  return copy;
}

// Tomorrow's price: the one at which the mean chance of an OOM, over the jobs as they stand tonight, is the
// ordered share, corrected for how promises have been kept so far.
void AnalogFleet::MovePrice(const FleetRows& rows) {
  const double fixed = settings_.price(resource_);
  if (fixed > 0) {
    price_ = fixed;
    return;
  }
  const size_t step = std::max<size_t>(1, rows.size() / static_cast<size_t>(settings_.solver_jobs));
  std::vector<AnalogCase> priced;
  for (size_t i = 0; i < rows.size(); i += step) {
    if (!rows[i].own_order) priced.push_back(rows[i].tomorrow);
  }
  if (priced.empty()) return;
  priced_jobs_ = std::move(priced);
  const double share = ordered_share();
  const double correction = (promised_ + kJudgePrior) / (realised_ + kJudgePrior);
  const double target = correction * std::clamp(share + debt_ / kDebtDays, share / 2, 2 * share);
  const double solved = PriceFor(target);
  // The first prices come of few days and may be far off: until a step of 1/n is the smaller one, the price
  // is the mean (of logarithms) of all solved so far.
  ++times_priced_;
  const double way = std::max(kPriceStep, 1.0 / times_priced_);
  price_ = times_priced_ == 1 ? solved : price_ * std::pow(solved / price_, way);
}

void AnalogFleet::CloseDay(int32_t day, const FleetRows& rows) {
  first_day_ = std::min(first_day_, day);
  Learn(rows);
  Judge(rows);
  const bool old_enough =
      rows_seen_ >= static_cast<uint64_t>(settings_.min_rows) && day - first_day_ + 1 >= settings_.min_days;
  if (!old_enough) return;
  const bool due =
      forest_.empty() || day - trained_day_ >= settings_.retrain_days || rows_seen_ >= 2 * rows_at_training_;
  if (due) {
    forest_.Train(history_, ForestSettings(), settings_.seed * 1'000'003 + static_cast<uint64_t>(day));
    trained_day_ = day;
    rows_at_training_ = rows_seen_;
  }
  MovePrice(rows);
}

AnalogsRecommender::AnalogsRecommender(const AnalogFleet& fleet, std::unique_ptr<Recommender> fallback,
                                       OomSettings oom, AnalogJob job)
    : fleet_(&fleet), fallback_(std::move(fallback)), oom_(oom), job_(job) {
  if (fleet.ready()) spare_ = std::move(fallback_);
}

int32_t AnalogsRecommender::DayOf(WindowId window) const {
  return WindowId{window.index - job_.day_start}.day();
}

// The job as it stands at the start of `day`.
AnalogCase AnalogsRecommender::CaseFor(int32_t day) const {
  const Resource resource = fleet_->resource();
  AnalogCase c;
  c.features = FeaturesOf(ring_, day, resource);
  c.week_peak = ring_.WeekPeak();
  c.floor = ring_.Last(0).p50;
  c.owner_limit = ring_.Last(0).owner_limit;
  c.tasks = tasks_;
  c.price_factor = job_.price_factor;
  if (decided_) c.kept_limit = choice_.limit;
  const double level = AnalogLevel(resource);
  const double week = std::log(c.week_peak + level);
  for (int i = 0; i < ring_.size(); ++i) {
    const DaySummary& d = ring_.Last(i);
    const auto at = static_cast<size_t>(c.own.size++);
    c.own.bin[at] = static_cast<uint8_t>(AnalogGrid::Get().BinOf(std::log(d.peak + level) - week));
    c.own.weight[at] = static_cast<float>(std::exp2(-(day - d.day) / fleet_->settings().own_half_life_days));
  }
  return c;
}

AnalogCase AnalogsRecommender::DecidedCase() const {
  AnalogCase c = CaseFor(decided_day_);
  c.kept_limit = kept_limit_;
  return c;
}

// `day` of the job begins, if it has not: the day before is over and the decision for `day` is due.
void AnalogsRecommender::Advance(int32_t day) {
  spare_ = nullptr;
  if (job_day_ != INT32_MIN && day <= job_day_) return;
  if (job_day_ == INT32_MIN) job_day_ = day - 1;
  EndJobDay();
  job_day_ = day;
  overrun_today_ = false;
  raised_until_ = INT32_MIN;
  warned_window_ = INT32_MIN;
  warning_came_true_ = false;
  if (fleet_->ready() && !ring_.empty()) DecideFor(day);
}

void AnalogsRecommender::DecideFor(int32_t day) {
  fallback_ = nullptr;
  AnalogCase job = CaseFor(day);
  // A raise that is still in force is the limit that a change would be a change of.
  if (raise_in_force_ && raised_ > choice_.limit) job.kept_limit = raised_;
  kept_limit_ = job.kept_limit;
  raise_in_force_ = false;
  promised_today_ = -1;
  price_ = job_.price_factor * fleet_->price();
  const AnalogCdf cdf = fleet_->Forecast(job);
  const AnalogSettings& s = fleet_->settings();
  choice_ = job_.order.has_value() ? ChooseForOrder(cdf, job, fleet_->resource(), OwnShare(), s)
                                   : ChooseLimit(cdf, job, fleet_->resource(), price_, s);
  decided_ = true;
  decided_day_ = day;
}

// The chance to aim at so that this job's order is kept: as the fleet's is, from how its promises were kept.
double AnalogsRecommender::OwnShare() const {
  const double share = *job_.order;
  const double correction = (promised_ + kJobPrior) / (realised_ + kJobPrior);
  return std::min(0.5, correction * std::clamp(share + debt_ / kDebtDays, share / 2, 2 * share));
}

void AnalogsRecommender::EndJobDay() {
  if (today_.empty()) return;
  // A checkpoint of a version whose days were the calendar's may be a day ahead.
  const int32_t day = ring_.empty() ? job_day_ : std::max(job_day_, ring_.Last(0).day + 1);
  ended_ = EndedDay();
  ended_.day = day;
  ended_.overrun = overrun_today_;
  // A job's first day under its owner's limit counts as well: a share of all job-days is what people order.
  if (decided_day_ == job_day_ || (!decided_ && fallback_ == nullptr)) {
    if (decided_) {
      ended_.promised = promised_today_ >= 0 ? promised_today_ : static_cast<float>(choice_.overrun_chance);
    } else {
      ended_.promised = 0;
    }
    ended_.warned = warned_window_ > INT32_MIN;
    ended_.came_true = warning_came_true_;
    warnings_ = kWarningDecay * warnings_ + (ended_.warned ? 1.0F : 0.0F);
    warnings_true_ = kWarningDecay * warnings_true_ + (ended_.came_true ? 1.0F : 0.0F);
    promised_ = static_cast<float>(kJudgeDecay) * promised_ + ended_.promised;
    realised_ = static_cast<float>(kJudgeDecay) * realised_ + (overrun_today_ ? 1.0F : 0.0F);
    if (job_.order.has_value()) {
      debt_ = static_cast<float>(kDebtDecay * debt_ + *job_.order - (overrun_today_ ? 1 : 0));
    }
  }
  ring_.Add(today_.Finish(day));
  if (today_windows_ > 0) tasks_ = static_cast<float>(today_tasks_) / static_cast<float>(today_windows_);
  today_windows_ = today_tasks_ = 0;
}

FleetRow AnalogsRecommender::RowOf(const EndedDay& ended) const {
  FleetRow row;
  const Resource resource = fleet_->resource();
  const double level = AnalogLevel(resource);
  const JobDaysRing before = ring_.WithoutLast();
  if (!before.empty()) {
    row.lesson.emplace();
    row.lesson->features = FeaturesOf(before, ended.day, resource);
    row.lesson->outcome =
        static_cast<float>(std::log(ring_.Last(0).peak + level) - std::log(before.WeekPeak() + level));
  }
  row.own_order = job_.order.has_value();
  if (ended.promised >= 0 && !row.own_order) row.verdict = FleetVerdict{ended.promised, ended.overrun};
  if (ended.warned) row.warning_came_true = ended.came_true;
  const int32_t next = ended.day >= job_day_ ? job_day_ + 1 : job_day_;
  row.tomorrow = decided_ && decided_day_ == next ? DecidedCase() : CaseFor(next);
  return row;
}

void AnalogsRecommender::StartDay(int32_t day) {
  if (fallback_ != nullptr) fallback_->StartDay(day);
  Advance(DayOf(WindowId{day * kWindowsPerDay}));
}

void AnalogsRecommender::EndDay(int32_t day, FleetRows& rows) {
  if (job_.day_start == 0 && job_day_ == day) {
    EndJobDay();
  }
  if (ended_.day == INT32_MIN) return;
  rows.push_back(RowOf(ended_));
  ended_ = EndedDay();
}

void AnalogsRecommender::Observe(const Signal& signal) {
  if (fallback_ != nullptr) fallback_->Observe(signal);
  if (signal.tasks.empty()) return;
  Advance(DayOf(signal.window));
  today_.Add(signal);
  ++today_windows_;
  today_tasks_ += static_cast<uint32_t>(signal.tasks.size());
  peak_since_raise_ = std::max(peak_since_raise_, static_cast<float>(signal.peak));
  last_usage_ = static_cast<float>(signal.peak);
  if (decided_) WatchWarning(signal);
  double limit = signal.owner_limit.value_or(signal.peak);
  if (decided_) limit = signal.window.index < raised_until_ ? std::max(raised_, base_limit()) : base_limit();
  limit = signal.limit.value_or(limit);
  if (decided_ && promised_today_ < 0) promised_today_ = static_cast<float>(*OverrunChance(limit));
  last_over_ = signal.peak > limit;
  if (last_over_) overrun_today_ = true;
}

void AnalogsRecommender::ObserveOom(const OomEvent& event) {
  if (fallback_ != nullptr) fallback_->ObserveOom(event);
  overrun_today_ = true;
  // The usage was cut at the limit: the day's peak is taken to be what was needed.
  Signal need{.window = event.window, .buckets = {}, .tasks = {}, .owner_limit = {}};
  need.peak = OomBump(event.limit, oom_);
  Advance(DayOf(event.window));
  today_.Add(need);
}

// Close under the limit; but not close under the owner's, where a raise is seldom needed: it would cost a third of
// a point of the footprint on Bitbrains.
bool AnalogsRecommender::ComesClose(double usage) const {
  const AnalogSettings& s = fleet_->settings();
  if (s.raise_at <= 0 || usage <= s.raise_at * base_limit()) return false;
  const double owner = ring_.empty() ? -1 : double{ring_.Last(0).owner_limit};
  return owner < 0 || usage < s.raise_pin * owner;
}

// After an overrun more of the same is likely: the limit goes above what was seen until the next decision.
void AnalogsRecommender::RaiseAfterOverrun(WindowId next) {
  if (!last_over_) return;
  last_over_ = false;
  const auto bump = [&](double usage) {
    return KillsAtLimit(fleet_->resource()) ? OomBump(usage, oom_) : oom_.bump_ratio * usage;
  };
  // Over the limit that the overrun before had raised: usage is still on its way up.
  const bool again = raised_after_overrun_ && next.index <= raised_until_;
  raised_ = again ? bump(bump(last_usage_)) : bump(last_usage_);
  raised_from_ = next.index;
  raised_until_ = DayEnd();
  raised_after_overrun_ = true;
}

// Whether a raise is made of it or not, every warning is followed to its end: the fleet learns what warnings
// are worth.
void AnalogsRecommender::WatchWarning(const Signal& signal) {
  const bool over = signal.peak > base_limit();
  if (warned_window_ == INT32_MIN) {
    if (!over && !overrun_today_ && ComesClose(signal.peak)) warned_window_ = signal.window.index;
    return;
  }
  const auto hold = static_cast<int32_t>(fleet_->settings().raise_hours * kWindowsPerHour);
  if (over && signal.window.index <= warned_window_ + hold) warning_came_true_ = true;
}

// What a warning of this job is worth: the fleet's share of warnings that came true, and the job's own as
// they come in. A job that always runs close under its limit soon has none.
double AnalogsRecommender::WarningHazard() const {
  return (warnings_true_ + kWarningPrior * fleet_->warning_hazard()) / (warnings_ + kWarningPrior);
}

// Usage close under the limit warns of an OOM within hours; a raise is worth its bytes if these cost less
// than the share of an OOM-day that such warnings have announced.
void AnalogsRecommender::Raise(WindowId next) {
  const AnalogSettings& s = fleet_->settings();
  if (overrun_today_ || next.index < raised_until_ || !ComesClose(last_usage_)) return;
  if (raised_from_ >= decided_day_ * kWindowsPerDay + job_.day_start) return;  // one a day
  const double raised = s.raise_factor * last_usage_;
  if (raised <= base_limit()) return;
  const auto hold = static_cast<int32_t>(s.raise_hours * kWindowsPerHour);
  const double byte_days = (raised - base_limit()) * std::max(hold, DayEnd() - next.index) / kWindowsPerDay;
  const double change = s.raise_change_price * fleet_->mean_limit();
  if (tasks_ * byte_days + change >= price_ * WarningHazard()) return;
  raised_ = raised;
  raised_from_ = next.index;
  raised_until_ = DayEnd();
  raised_after_overrun_ = false;
  peak_since_raise_ = 0;
}

// A raise holds until the next decision, unless usage went away again.
void AnalogsRecommender::DropNeedlessRaise(WindowId next) {
  const AnalogSettings& s = fleet_->settings();
  const auto hold = static_cast<int32_t>(s.raise_hours * kWindowsPerHour);
  if (raised_after_overrun_ || next.index >= raised_until_ || next.index < raised_from_ + hold) return;
  if (peak_since_raise_ <= s.raise_at * base_limit()) raised_until_ = next.index;
}

std::optional<double> AnalogsRecommender::Recommend(WindowId next) {
  // Where the job's day is the calendar's, the fleet learns between its end and its next decision.
  if (job_.day_start > 0) Advance(DayOf(next));
  if (!decided_) return fallback_ != nullptr ? fallback_->Recommend(next) : std::nullopt;
  DropNeedlessRaise(next);
  Raise(next);
  RaiseAfterOverrun(next);
  raise_in_force_ = next.index < raised_until_ && raised_ > base_limit();
  return raise_in_force_ ? raised_ : base_limit();
}

namespace {

// Why the fleet cannot be forecast from.
std::string NotReady(const AnalogFleet& fleet) {
  const AnalogSettings& settings = fleet.settings();
  if (fleet.ready()) return "This job is too young to forecast";
  if (fleet.rows_seen() < static_cast<uint64_t>(settings.min_rows)) {
    return fmt::format(
        "The fleet is too small to forecast from yet: it has {} of the {} days of jobs that are needed",
        fleet.rows_seen(), settings.min_rows);
  }
  return fmt::format("The fleet is too young to forecast from: it has less than {} days", settings.min_days);
}

}  // namespace

std::optional<double> AnalogsRecommender::OverrunChance(double limit) const {
  if (!decided_) return std::nullopt;
  // Rounding and the like move the limit by less than the forecast's own steps: no second forecast for these.
  if (std::abs(limit - choice_.limit) <= 0.01 * choice_.limit) return std::max(0.0, choice_.overrun_chance);
  const AnalogCase job = DecidedCase();
  // Sums of shares may come to a little more than 1.
  return std::max(0.0, ChanceAbove(fleet_->Forecast(job), job, fleet_->resource(), limit));
}

// By the decision in force: what the fleet has learnt since belongs to the next one. A limit above the decided one
// has no higher chance than that, one below it no lower.
void AnalogsRecommender::UpdateRisk(double limit, LimitRisk& risk) const {
  if (!decided_) return Recommender::UpdateRisk(limit, risk);
  risk.limit = limit;
  if (risk.asked == limit && risk.decided_day == decided_day_) return;
  risk.asked = limit;
  risk.decided_day = decided_day_;
  const double decided = std::max(0.0, choice_.overrun_chance), forecast = *OverrunChance(limit);
  risk.chance = limit >= choice_.limit ? std::min(forecast, decided) : std::max(forecast, decided);
  risk.most_chance = job_.order.has_value()
                         ? LimitRisk::kNone
                         : static_cast<float>(fleet_->settings().MostChance(fleet_->resource()));
  // None of n similar days is no proof of less than about one in 2 n: half a day above is always counted.
  const FleetFeatures features = FeaturesOf(ring_, decided_day_, fleet_->resource());
  double least = 0.5 / static_cast<double>(fleet_->forest().CountSimilar(features) + 1);
  if (risk.most_chance >= 0) least = std::min(least, double{risk.most_chance});
  risk.chance = std::max(risk.chance, least);
  risk.days = static_cast<uint8_t>(ring_.size());
  risk.days_over = 0;
  for (int i = 0; i < ring_.size(); ++i)
    risk.days_over += ring_.Last(i).peak > limit * (1 + kSamePeak) ? 1 : 0;
}

void AnalogsRecommender::Explain(Reason& reason) const {
  const Resource resource = fleet_->resource();
  const std::string unit(UnitName(resource));
  if (!decided_) {
    if (fallback_ != nullptr) fallback_->Explain(reason);
    reason.recommender = "analogs";
    reason.sentence = fallback_ != nullptr && !reason.sentence.empty()
                          ? NotReady(*fleet_) + "; its stand-in says: " + reason.sentence
                          : "Nothing is known of the job or the fleet yet, so the owner's limit stays.";
    return;
  }
  reason.recommender = "analogs";
  const double level = AnalogLevel(resource);
  const AnalogCase job = DecidedCase();
  const AnalogCdf cdf = fleet_->Forecast(job);
  // All of this is about the limit after its last step.
  const double own = raise_in_force_ ? raised_ : choice_.limit;
  const double limit = reason.limit.value_or(own);
  const double cut = std::log((limit + level) / (job.week_peak + level));
  reason.limit = limit;
  const std::vector<float> similar = fleet_->forest().SimilarOutcomes(job.features);
  if (!reason.chance.has_value()) reason.SetRisk(RiskOf(limit));
  const auto above = std::count_if(similar.begin(), similar.end(), [&](float y) { return y > cut + 1e-9; });
  const bool throttles = ThrottlesAtLimit(resource);
  const std::string_view day = throttles ? "throttled day" : "OOM-day", a = throttles ? "a" : "an";
  reason.sentence = fmt::format(
      "Of {} similar job-days in the fleet, {} peaked above this limit; of the job's own last {}, {}. The "
      "forecast chance of a day over it is {}{}.",
      similar.size(), above, reason.days, reason.days_over, RiskText(*reason.chance),
      choice_.kept && limit == choice_.limit ? "; the limit before was close enough to the best to stay"
                                             : "");
  reason.facts.push_back({"highest peak of the last 7 days", job.week_peak, unit});
  reason.facts.push_back(
      {fmt::format("price of {} {}", a, day), price_, StrCat(UnitOf(resource).one, "-days")});
  if (job.tasks > 1) reason.facts.push_back({"tasks, mean of the last day", job.tasks, ""});
  reason.facts.push_back({fmt::format("chance of {} {}", a, day), 100 * *reason.chance, "%"});
  const AnalogSettings& s = fleet_->settings();
  if (job_.order.has_value()) {
    reason.facts.push_back({fmt::format("{}s ordered for this job", day), 100 * *job_.order, "%"});
  } else {
    reason.facts.push_back({fmt::format("{}s ordered, over all jobs", day), 100 * s.order(resource), "%"});
    reason.facts.push_back({"highest chance allowed for a job", 100 * s.MostChance(resource), "%"});
  }
  reason.facts.push_back({"job-days behind the forecast", static_cast<double>(fleet_->forest().rows()), ""});
  reason.why = fmt::format("{} of 7 days is {}, {} chance of a day above",
                           throttles ? "highest 5-minute mean" : "highest peak",
                           FormatAmount(resource, job.week_peak), FormatChance(*reason.chance));
  ExplainChoice(job, cdf, reason);
  if (raise_in_force_) {
    const std::string what = raised_after_overrun_ ? "usage was above the limit"
                                                   : fmt::format("usage came within {:.2g} % of the limit",
                                                                 100 * (1 - s.raise_at));
    reason.why = StrCat(what, "; raised until the next daily decision");
    reason.steps.push_back({reason.why, choice_.limit, raised_, "raise"});
  }
}

std::string AnalogsRecommender::RiskText(double chance) const {
  const AnalogSettings& s = fleet_->settings();
  const Resource resource = fleet_->resource();
  if (job_.order.has_value())
    return fmt::format("{} ({:.2g} % ordered for this job)", FormatChance(chance), 100 * *job_.order);
  return fmt::format("{} ({:.2g} % ordered over all jobs, at most {:.2g} % for one)", FormatChance(chance),
                     100 * s.order(resource), 100 * s.MostChance(resource));
}

// The limits weighed, and the way from the least cost to the daily decision.
void AnalogsRecommender::ExplainChoice(const AnalogCase& job, const AnalogCdf& cdf, Reason& reason) const {
  const Resource resource = fleet_->resource();
  const double level = AnalogLevel(resource);
  const AnalogSettings& s = fleet_->settings();
  const bool own = job_.order.has_value();
  const double price = own ? 0 : price_ / job.tasks;
  const double most = own ? OwnShare() : s.MostChance(resource);
  reason.cost_unit = UnitName(resource);
  const std::string detail = own             ? "limit"
                             : job.tasks > 1 ? "limit + price / tasks x chance"
                                             : "limit + price x chance";
  for (double chance : {0.5, 0.2, 0.1, 0.05, 0.03, 0.01}) {
    AnalogChoice c;
    for (int k = 0; k < AnalogGrid::kEdges; ++k) {
      c.limit = (job.week_peak + level) * AnalogGrid::Get().Factor(k) - level;
      c.overrun_chance = 1 - static_cast<double>(cdf.at[static_cast<size_t>(k)]);
      if (c.overrun_chance <= chance) break;
    }
    // Where the forecast has a step, several chances share one limit: the last of them is said.
    if (!reason.candidates.empty() && reason.candidates.back().limit == c.limit) reason.candidates.pop_back();
    reason.candidates.push_back({fmt::format("limit with a {:g} % chance", 100 * chance), c.limit,
                                 c.limit + price * c.overrun_chance, detail, false});
  }
  std::string name = own ? "least limit at the job's order" : "least cost";
  if (choice_.kept) {
    name = "the limit before, kept";
    reason.steps.push_back({name, 0, choice_.limit, "kept"});
  } else if (own) {
    AnalogCase unbounded = job;
    unbounded.owner_limit = -1;
    unbounded.kept_limit = -1;
    const double free_limit = ChooseForOrder(cdf, unbounded, resource, most, s).limit;
    reason.steps.push_back({name, 0, std::max(free_limit, choice_.limit)});
    if (choice_.limit < free_limit) {
      name = fmt::format("not above the owner's limit or {:g} times the week's peak", kOwnRoom);
      reason.steps.push_back({name, free_limit, choice_.limit, "upper_bound"});
    }
  } else if (const AnalogBound bound = BoundOf(choice_, cdf, job, resource, price_, most, s);
             bound.kind.empty()) {
    reason.steps.push_back({name, 0, choice_.limit});
  } else {
    reason.candidates.push_back({"least cost", bound.free_limit, bound.free_cost, detail, false});
    reason.steps.push_back({"least-cost limit", 0, bound.free_limit});
    reason.steps.push_back({bound.what, bound.free_limit, choice_.limit, std::string(bound.kind)});
    name = fmt::format("least cost allowed: {}", bound.what);
  }
  reason.candidates.push_back({name, choice_.limit, choice_.cost, detail, true});
}

// A job's day may be under way where the calendar's begins. The last usage was the old run's: nothing is
// raised on it.
std::unique_ptr<Recommender> AnalogsRecommender::Clone() const {
  auto copy = std::make_unique<AnalogsRecommender>(*fleet_, nullptr, oom_, job_);
  if (fallback_ != nullptr) copy->fallback_ = fallback_->Clone();
  if (spare_ != nullptr) copy->spare_ = spare_->Clone();
  copy->ring_ = ring_;
  copy->today_ = today_;
  copy->today_windows_ = today_windows_;
  copy->today_tasks_ = today_tasks_;
  copy->tasks_ = tasks_;
  copy->job_day_ = job_day_;
  copy->ended_ = ended_;
  copy->choice_ = choice_;
  copy->kept_limit_ = kept_limit_;
  copy->price_ = price_;
  copy->decided_ = decided_;
  copy->decided_day_ = decided_day_;
  copy->raised_ = raised_;
  copy->raised_until_ = raised_until_;
  copy->raised_from_ = raised_from_;
  copy->peak_since_raise_ = peak_since_raise_;
  copy->raise_in_force_ = raise_in_force_;
  copy->raised_after_overrun_ = raised_after_overrun_;
  copy->promised_today_ = promised_today_;
  copy->overrun_today_ = overrun_today_;
  copy->warned_window_ = warned_window_;
  copy->warning_came_true_ = warning_came_true_;
  copy->warnings_ = warnings_;
  copy->warnings_true_ = warnings_true_;
  copy->promised_ = promised_;
  copy->realised_ = realised_;
  copy->debt_ = debt_;
  return copy;
}

size_t AnalogsRecommender::state_bytes() const {
  return sizeof(*this) + ring_.heap_bytes() + today_.heap_bytes() +
         (fallback_ != nullptr ? fallback_->state_bytes() : 0) +
         (spare_ != nullptr ? spare_->state_bytes() : 0);
}

void AnalogsRecommender::Save(ByteWriter& out) const {
  ring_.Save(out);
  today_.Save(out);
  out.Put<uint8_t>((decided_ ? 1 : 0) | kHasDay | kHasPromise | kHasTasks);
  out.Put<uint8_t>(overrun_today_ ? 1 : 0);
  out.Put<uint8_t>(choice_.kept ? 1 : 0);
  for (double v : {choice_.limit, choice_.overrun_chance, choice_.cost, price_, raised_}) out.Put(v);
  out.Put(decided_day_);
  out.Put(raised_until_);
  out.Put(last_usage_);
  out.Put(warned_window_);
  out.Put<uint8_t>(warning_came_true_ ? 1 : 0);
  SaveDay(out);
  out.Put<uint8_t>(fallback_ != nullptr ? 1 : 0);
  if (fallback_ != nullptr) fallback_->Save(out);
}

// What checkpoints have since jobs' days are their own; kHasDay says that they have it.
void AnalogsRecommender::SaveDay(ByteWriter& out) const {
  for (const int32_t v : {job_day_, ended_.day, raised_from_}) out.Put(v);
  for (const bool v : {ended_.overrun, ended_.warned, ended_.came_true, raise_in_force_}) out.Put<uint8_t>(v);
  for (const float v :
       {ended_.promised, peak_since_raise_, warnings_, warnings_true_, promised_, realised_, debt_}) {
    out.Put(v);
  }
  out.Put(kept_limit_);
  out.Put(promised_today_);
  out.Put<uint8_t>(raised_after_overrun_ ? 1 : 0);
  out.Put<uint8_t>(last_over_ ? 1 : 0);
  out.Put(today_windows_);
  out.Put(today_tasks_);
  out.Put(tasks_);
}

bool AnalogsRecommender::LoadDay(ByteReader& in) {
  for (int32_t* v : {&job_day_, &ended_.day, &raised_from_}) *v = in.Get<int32_t>();
  for (bool* v : {&ended_.overrun, &ended_.warned, &ended_.came_true, &raise_in_force_})
    *v = in.Get<uint8_t>() != 0;
  bool possible = true;
  for (float* v :
       {&ended_.promised, &peak_since_raise_, &warnings_, &warnings_true_, &promised_, &realised_, &debt_}) {
    *v = in.Get<float>();
    possible = possible && std::isfinite(*v);
  }
  for (const int32_t day : {job_day_, ended_.day})
    possible = possible && (day == INT32_MIN || IsStoredDay(day));
  possible = possible && (raised_from_ == INT32_MIN || IsStoredWindow(raised_from_));
  return possible && (ended_.day == INT32_MIN || !ring_.empty());
}

absl::Status AnalogsRecommender::Load(ByteReader& in) {
  if (absl::Status s = ring_.Load(in); !s.ok()) return s;
  if (absl::Status s = today_.Load(in); !s.ok()) return s;
  const auto flags = in.Get<uint8_t>();
  decided_ = (flags & 1U) != 0;
  overrun_today_ = in.Get<uint8_t>() != 0;
  choice_.kept = in.Get<uint8_t>() != 0;
  for (double* v : {&choice_.limit, &choice_.overrun_chance, &choice_.cost, &price_, &raised_}) {
    *v = in.Get<double>();
  }
  decided_day_ = in.Get<int32_t>();
  raised_until_ = in.Get<int32_t>();
  last_usage_ = in.Get<float>();
  warned_window_ = in.Get<int32_t>();
  warning_came_true_ = in.Get<uint8_t>() != 0;
  bool possible = true;
  std::optional<double> kept;
  if ((flags & kHasDay) != 0) {
    possible = LoadDay(in);
    kept = in.Get<double>();
    possible = possible && (*kept == -1 || IsStoredAmount(*kept));
    if ((flags & kHasPromise) != 0) {
      promised_today_ = in.Get<float>();
      raised_after_overrun_ = in.Get<uint8_t>() != 0;
      last_over_ = in.Get<uint8_t>() != 0;
      possible = possible && std::isfinite(promised_today_);
    }
    if ((flags & kHasTasks) != 0) {
      for (uint32_t* v : {&today_windows_, &today_tasks_}) *v = in.Get<uint32_t>();
      tasks_ = in.Get<float>();
      possible = possible && std::isfinite(tasks_) && tasks_ >= 1 && today_tasks_ >= today_windows_;
    }
  } else {
    job_day_ = decided_ ? decided_day_ : INT32_MIN;
    raise_in_force_ = false;
  }
  const bool has_fallback = in.Get<uint8_t>() != 0;
  if (absl::Status s = in.status("analogs"); !s.ok()) return s;
  if (decided_ && ring_.empty()) return absl::DataLossError("analogs: a decision without a day");
  possible = possible && (!decided_ || IsStoredDay(decided_day_));
  for (const int32_t w : {raised_until_, warned_window_})
    possible = possible && (w == INT32_MIN || IsStoredWindow(w));
  possible = possible && std::isfinite(choice_.overrun_chance) && std::isfinite(choice_.cost);
  for (double v : {choice_.limit, price_, raised_}) possible = possible && IsStoredAmount(v);
  if (!possible) return absl::DataLossError("analogs: an impossible decision");
  // One saved between the night the fleet became ready and the job's own decision still has its fallback.
  if (fallback_ == nullptr) fallback_ = std::move(spare_);
  spare_ = nullptr;
  if (!has_fallback) {
    fallback_ = nullptr;
  } else if (fallback_ == nullptr) {
    return absl::InvalidArgumentError("analogs: the checkpoint has a fallback that this recommender has not");
  } else if (absl::Status s = fallback_->Load(in); !s.ok()) {
    return s;
  }
  if (decided_) kept_limit_ = kept.value_or(choice_.limit);
  return absl::OkStatus();
}

}  // namespace taut::brain
