#include "brain/recommend/analogs.h"

#include <algorithm>
#include <cmath>

#include "brain/recommend/wrappers.h"

namespace taut::brain {
namespace {

constexpr double kJobPrior = 1;  // OOM-days added to both counts of a job with its own target share
// Decay per day of the job's own warnings, and the weight of the fleet's hazard relative to these warnings.
constexpr float kWarningDecay = 0.95F;
constexpr double kWarningPrior = 2;

// Relative tolerance of comparisons: peaks are floats.
constexpr double kSamePeak = 1e-6;

}  // namespace

AnalogsRecommender::AnalogsRecommender(const AnalogFleet& fleet, std::unique_ptr<Recommender> fallback,
                                       OomSettings oom, AnalogJob job)
    : fleet_(&fleet), fallback_(std::move(fallback)), oom_(oom), job_(job) {
  if (fleet.ready()) spare_ = std::move(fallback_);
}

int32_t AnalogsRecommender::DayOf(WindowId window) const {
  return WindowId{window.index - job_.day_start}.day();
}

// Returns the job's state at the start of `day`.
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

// Begins `day` of the job, unless it has begun: ends the previous day and makes the decision for `day`.
void AnalogsRecommender::Advance(int32_t day) {
  spare_ = nullptr;
  if (job_day_ != INT32_MIN && day <= job_day_) return;
  if (job_day_ == INT32_MIN) job_day_ = day - 1;
  // This call must precede the change of job_day_, because the windows so far belong to the previous day.
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
  // A raise in force is the limit that the new decision changes: the charge for a change counts from the raised
  // limit.
  if (raise_in_force_ && raised_ > choice_.limit) job.kept_limit = raised_;
  kept_limit_ = job.kept_limit;
  raise_in_force_ = false;
  // The chance of the limit in force is unknown until the first window, which has the limit after floors and
  // bounds.
  promised_today_ = -1;
  price_ = job_.price_factor * fleet_->price();
  const AnalogCdf cdf = fleet_->Forecast(job);
  const AnalogSettings& s = fleet_->settings();
  choice_ = job_.order.has_value() ? ChooseForOrder(cdf, job, fleet_->resource(), OwnShare(), s)
                                   : ChooseLimit(cdf, job, fleet_->resource(), price_, s);
  decided_ = true;
  decided_day_ = day;
}

// Returns the target chance for this job's own target share. The outcome of past promises corrects the share, as
// it corrects the fleet's price.
double AnalogsRecommender::OwnShare() const {
  const double share = *job_.order;
  const double correction = (promised_ + kJobPrior) / (realised_ + kJobPrior);
  return std::min(0.5, correction * WantedShare(share, debt_));
}

void AnalogsRecommender::EndJobDay() {
  if (today_.empty()) return;
  // Days in the ring must ascend. A checkpoint of an older version, whose days were calendar days, may be one
  // day ahead.
  const int32_t day = ring_.empty() ? job_day_ : std::max(job_day_, ring_.Last(0).day + 1);
  ended_ = EndedDay();
  ended_.day = day;
  ended_.overrun = overrun_today_;
  // A job's first day under the owner's limit counts, too, because the target is a share of all job-days.
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
  // The usage was cut off by the limit, so the assumed need is recorded as the day's peak.
  Signal need{.window = event.window, .buckets = {}, .tasks = {}, .owner_limit = {}};
  need.peak = OomBump(event.limit, oom_);
  Advance(DayOf(event.window));
  today_.Add(need);
}

// Returns true if usage is close to the limit, but not close to the owner's limit. Close to the owner's limit a
// raise is seldom required, and would increase the footprint on the Bitbrains trace by a third of a percentage
// point.
bool AnalogsRecommender::ComesClose(double usage) const {
  const AnalogSettings& s = fleet_->settings();
  if (s.raise_at <= 0 || usage <= s.raise_at * base_limit()) return false;
  const double owner = ring_.empty() ? -1 : double{ring_.Last(0).owner_limit};
  return owner < 0 || usage < s.raise_pin * owner;
}

// Raises the limit above the observed usage until the next decision, because an overrun is often followed by
// further overruns.
void AnalogsRecommender::RaiseAfterOverrun(WindowId next) {
  if (!last_over_) return;
  last_over_ = false;
  const auto bump = [&](double usage) { return LimitAfterOverrun(usage, fleet_->resource(), oom_); };
  // An overrun of a limit that an overrun has already raised means that usage is still rising, so raise twice as
  // far.
  const bool again = raised_after_overrun_ && next.index <= raised_until_;
  raised_ = again ? bump(bump(last_usage_)) : bump(last_usage_);
  raised_from_ = next.index;
  raised_until_ = DayEnd();
  raised_after_overrun_ = true;
}

// Tracks every warning to its end, also a warning without a raise: the fleet learns the share of warnings that
// were followed by an overrun.
void AnalogsRecommender::WatchWarning(const Signal& signal) {
  const bool over = signal.peak > base_limit();
  if (warned_window_ == INT32_MIN) {
    if (!over && !overrun_today_ && ComesClose(signal.peak)) warned_window_ = signal.window.index;
    return;
  }
  const auto hold = static_cast<int32_t>(fleet_->settings().raise_hours * kWindowsPerHour);
  if (over && signal.window.index <= warned_window_ + hold) warning_came_true_ = true;
}

// Returns the chance that a warning of this job is followed by an overrun: the fleet's share, gradually replaced
// by the job's own share. The chance falls to almost 0 for a job that always runs close to its limit.
double AnalogsRecommender::WarningHazard() const {
  return (warnings_true_ + kWarningPrior * fleet_->warning_hazard()) / (warnings_ + kWarningPrior);
}

// Raises the limit if usage close to the limit announces an OOM within hours. The raise must cost less than the
// OOM-days that it averts, as estimated from past warnings.
void AnalogsRecommender::Raise(WindowId next) {
  const AnalogSettings& s = fleet_->settings();
  if (overrun_today_ || next.index < raised_until_ || !ComesClose(last_usage_)) return;
  if (raised_from_ >= decided_day_ * kWindowsPerDay + job_.day_start) return;  // at most one raise per day
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

// Ends a raise before the next decision if usage has fallen again.
void AnalogsRecommender::DropNeedlessRaise(WindowId next) {
  const AnalogSettings& s = fleet_->settings();
  const auto hold = static_cast<int32_t>(s.raise_hours * kWindowsPerHour);
  if (raised_after_overrun_ || next.index >= raised_until_ || next.index < raised_from_ + hold) return;
  if (peak_since_raise_ <= s.raise_at * base_limit()) raised_until_ = next.index;
}

std::optional<double> AnalogsRecommender::Recommend(WindowId next) {
  // A job whose day begins at midnight is decided in StartDay, after the fleet has learnt from the day that ended.
  if (job_.day_start > 0) Advance(DayOf(next));
  if (!decided_) return fallback_ != nullptr ? fallback_->Recommend(next) : std::nullopt;
  // The order matters: a new warning may replace a dropped raise, and an overrun overrides both.
  DropNeedlessRaise(next);
  Raise(next);
  RaiseAfterOverrun(next);
  raise_in_force_ = next.index < raised_until_ && raised_ > base_limit();
  return raise_in_force_ ? raised_ : base_limit();
}

std::optional<double> AnalogsRecommender::OverrunChance(double limit) const {
  if (!decided_) return std::nullopt;
  // Rounding changes the limit by less than a step of the forecast, so a second forecast is unnecessary.
  if (std::abs(limit - choice_.limit) <= 0.01 * choice_.limit) return std::max(0.0, choice_.overrun_chance);
  const AnalogCase job = DecidedCase();
  // Rounding can make a sum of shares slightly greater than 1, and therefore the chance negative.
  return std::max(0.0, ChanceAbove(fleet_->Forecast(job), job, fleet_->resource(), limit));
}

// Uses the forecast of the decision in force, so that the risk does not change during the day. The chance never
// rises with the limit.
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
  // If none of n similar days was above the limit, the chance may still be about 1 in 2 n. Half a day above the
  // limit is therefore always counted.
  const FleetFeatures features = FeaturesOf(ring_, decided_day_, fleet_->resource());
  double least = 0.5 / static_cast<double>(fleet_->forest().CountSimilar(features) + 1);
  if (risk.most_chance >= 0) least = std::min(least, double{risk.most_chance});
  risk.chance = std::max(risk.chance, least);
  risk.days = static_cast<uint8_t>(ring_.size());
  risk.days_over = 0;
  for (int i = 0; i < ring_.size(); ++i)
    risk.days_over += ring_.Last(i).peak > limit * (1 + kSamePeak) ? 1 : 0;
}

// The current day is copied, too: a job's day may be in progress when a calendar day begins. last_usage_ and
// last_over_ are not copied, so that the new run does not raise a limit because of the old run's usage.
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

}  // namespace taut::brain
