#include "brain/recommend/boosted.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "brain/recommend/analog_fleet.h"
#include "brain/recommend/cut_usage.h"
#include "brain/recommend/job_days_ring.h"
#include "brain/recommend/wrappers.h"

namespace taut::brain {
namespace {

constexpr uint32_t kLeastHours = 24;  // measured hours that a decision requires
constexpr int kLessonsPerDay = 8;     // of a job; periods of an hour are sampled
// Assumed need of usage that a limit cut, as a multiple of the limit, and the multiple to which such usage raises
// the limit. A high raise shows the need in the next window, and a decision soon lowers a needless raise.
constexpr double kNeedOfCut = 1.1, kRaiseOfCut = 2.4;
// Share of the first window at the limit in which the tasks had the need that a later window shows.
constexpr float kShareOfFirstCut = 0.2;
constexpr double kOwnPrior = 1;      // OOM-days added to both counts of a job with its own target share
constexpr double kJobPriorDays = 3;  // likewise for work
constexpr double kMostOwnCorrection = 4;
// A limit whose chance is this factor above the bound does not stay.
constexpr double kBoundSlack = 1.3;
// A limit is at most this multiple of the week's peak, or the highest peak of 28 days.
constexpr double kRoom = 1.5;
// Usage this factor above the usage of the last decision causes a decision.
constexpr double kNews = 1.02;
constexpr double kSameUse = 1e-6;  // relative tolerance of comparisons: peaks are floats

}  // namespace

BoostedRecommender::BoostedRecommender(const BoostedFleet& fleet, std::unique_ptr<Recommender> fallback,
                                       OomSettings oom, BoostedJob job)
    : fleet_(&fleet), fallback_(std::move(fallback)), oom_(oom), job_(job) {}

int32_t BoostedRecommender::HourOf(WindowId window) const {
  const int32_t shift = static_cast<int32_t>(job_.key % kWindowsPerHour);
  return static_cast<int32_t>(FloorDiv(window.index - shift, kWindowsPerHour));
}

int32_t BoostedRecommender::PeriodOf(WindowId window) const {
  const auto hours = static_cast<uint64_t>(period_hours());
  const auto shift = static_cast<int32_t>(job_.key / kWindowsPerHour % hours);
  return static_cast<int32_t>(FloorDiv(HourOf(window) - shift, period_hours()));
}

// Returns the highest need of a task in a window. Usage at the limit hides a higher need.
double BoostedRecommender::NeedOf(const Signal& signal) const {
  if (!ThrottlesAtLimit(fleet_->resource()) || !IsCut(signal)) return signal.peak;
  return std::max(signal.peak, kNeedOfCut * *signal.cut_at);
}

void BoostedRecommender::AddOutcome(double need) {
  if (!open_.has_value()) return;
  const double level = AnalogLevel(fleet_->resource());
  const auto y = static_cast<float>(std::log(need + level) - std::log(open_peak_ + level));
  BoostedLesson& lesson = *open_;
  if (!ThrottlesAtLimit(fleet_->resource())) {
    lesson.outcomes[0] = lesson.size == 0 ? y : std::max(lesson.outcomes[0], y);
    lesson.size = 1;
  } else if (lesson.size < BoostedLesson::kMost) {
    lesson.outcomes[lesson.size++] = y;
  }
}

void BoostedRecommender::FinishLesson() {
  if (open_.has_value() && open_->size > 0) {
    ++finished_;
    if (BoostedLessonKey(job_.key, period_) <= fleet_->sample_bound()) {
      lessons_.push_back(*open_);
      periods_.push_back(period_);
    }
  }
  open_.reset();
}

void BoostedRecommender::BeginLesson() {
  const auto every = static_cast<uint64_t>(
      std::max(1.0, fleet_->settings().periods_per_day(fleet_->resource()) / kLessonsPerDay));
  if (BoostedLessonKey(~job_.key, period_) % every != 0) return;
  open_.emplace();
  open_->features = decision_.input.features;
  open_peak_ = decision_.input.week_peak;
}

// Returns the highest harm that a limit of this job may have.
double BoostedRecommender::OwnMostHarm() const {
  if (!job_.order.has_value()) return fleet_->most_harm();
  const bool throttles = ThrottlesAtLimit(fleet_->resource());
  const double prior = throttles ? kJobPriorDays * *job_.order * weight_ * (1 - kJudgeDecay) : kOwnPrior;
  double correction = prior > 0 ? (promised_ + prior) / (realised_ + prior) : 1;
  correction = std::clamp(correction, 1 / kMostOwnCorrection, kMostOwnCorrection);
  return correction * *job_.order *
         (throttles ? decision_.input.use : 1 / fleet_->settings().periods_per_day(fleet_->resource()));
}

// Returns the weight of harm against the limit. A job's own target bounds the harm instead.
double BoostedRecommender::OwnWeight() const {
  return job_.order.has_value() ? 0 : BoostedWeight(decision_.input, fleet_->resource(), fleet_->price());
}

void BoostedRecommender::MoveTo(double limit, Move move) {
  move_ = move;
  move_from_ = limit_;
  limit_ = limit;
  regret_ = 0;
}

// Keeps the limit in force or moves it to the best one.
void BoostedRecommender::ChooseFor(const BoostedForecast& forecast) {
  const BoostedCase& job = decision_.input;
  const double weight = OwnWeight(), most_harm = OwnMostHarm();
  const BoostedChoice best = ChooseBoosted(forecast, job, most_harm, weight);
  decision_.best = best;
  decision_.regret = regret_;
  Move move = Move::kFirst;
  if (limit_ >= 0) {
    const double harm = forecast.HarmOf(limit_);
    const double regret = std::max(0.0, limit_ + weight * harm - best.cost);
    decision_.regret = regret_ + regret;
    if (best.limit <= limit_) {
      regret_ += regret;
      move = job.tasks * regret_ > RegretOf(fleet_->settings().fall_hours(fleet_->resource())) ? Move::kFall
                                                                                               : Move::kKept;
    } else if (harm > kBoundSlack * most_harm) {
      move = Move::kHarmBound;
    } else {
      move = job_.order.has_value() || IsWorthRaise(regret) ? Move::kRise : Move::kKept;
    }
  }
  if (move == Move::kKept) {
    move_ = move;
  } else {
    MoveTo(best.limit, move);
  }
  decision_.harm = forecast.HarmOf(limit_);
}

// Sets the input of a decision from the hours before `hour`. Returns false if there is too little history.
bool BoostedRecommender::ReadHistory(int32_t hour) {
  const std::optional<double> week_peak = history_.WeekPeak(hour);
  if (history_.hours_measured() < kLeastHours || !week_peak.has_value()) return false;
  decision_.period = period_;
  decision_.hour = hour;
  BoostedCase& input = decision_.input;
  input.features = history_.Features(hour, period_hours(), *week_peak, fleet_->resource());
  input.week_peak = *week_peak;
  input.ceiling = std::max(kRoom * *week_peak, history_.HighestPeak(hour)) + AnalogLevel(fleet_->resource());
  input.use = history_.DayMean(hour).value_or(0);
  input.tasks = tasks_;
  input.price_factor = job_.price_factor;
  return true;
}

// Decides again between two regular decisions if usage comes close to the limit, and raises the limit if the new
// forecast asks for it. Usage that is no news costs no forecast: a steady job may stay close to its limit.
void BoostedRecommender::DecideEarly(WindowId next) {
  const double at = fleet_->settings().raise_at;
  if (at <= 0 || last_usage_ <= at * limit_ || last_usage_ <= kNews * seen_usage_) return;
  seen_usage_ = last_usage_;
  const Decision before = decision_;
  // The current hour counts as finished.
  if (!ReadHistory(HourOf(WindowId{next.index - 1}) + 1)) return;
  const BoostedCase& job = decision_.input;
  const BoostedForecast forecast = fleet_->Forecast(job);
  const double weight = OwnWeight();
  const BoostedChoice best = ChooseBoosted(forecast, job, OwnMostHarm(), weight);
  const double regret = limit_ + weight * forecast.HarmOf(limit_) - best.cost;
  if (best.limit <= limit_ || !IsWorthRaise(regret)) {
    decision_ = before;
    return;
  }
  decision_.best = best;
  decision_.harm = best.harm;
  decision_.regret = regret;
  MoveTo(best.limit, Move::kWarning);
}

void BoostedRecommender::Decide(WindowId next) {
  FinishLesson();
  period_ = PeriodOf(next);
  seen_usage_ = last_usage_;
  if (!ReadHistory(HourOf(next))) return;
  BeginLesson();
  if (!fleet_->ready()) return;
  fallback_ = nullptr;
  ChooseFor(fleet_->Forecast(decision_.input));
  if (ThrottlesAtLimit(fleet_->resource())) {
    day_.promised += decision_.harm * tasks_ * period_hours() * kWindowsPerHour;
  } else {
    day_.calm *= 1 - decision_.harm;
  }
}

// Raises the limit above the observed usage until the next decision at least, because an overrun is often followed
// by further overruns.
void BoostedRecommender::RaiseAfterOverrun() {
  const double raised = std::exchange(after_overrun_, -1.0F);
  if (raised > limit_) MoveTo(raised, Move::kOverrun);
}

void BoostedRecommender::StartDay(int32_t day) {
  if (fallback_ != nullptr) fallback_->StartDay(day);
  day_ = Day();
  day_.counts = limit_ >= 0;
}

void BoostedRecommender::EndDay(int32_t day, FleetRows& rows) {
  if (fallback_ != nullptr) fallback_->EndDay(day, rows);
  if (decision_.period == kNever) return;
  FleetRow row;
  BoostedRow& boosted = row.boosted.emplace();
  boosted.lessons = std::move(lessons_);
  boosted.periods = std::move(periods_);
  boosted.finished = finished_;
  lessons_.clear();
  periods_.clear();
  finished_ = 0;
  boosted.size = history_.owner_limit() >= 0 ? history_.owner_limit() : decision_.input.week_peak;
  boosted.own_order = job_.order.has_value();
  const bool throttles = ThrottlesAtLimit(fleet_->resource());
  if (day_.counts && day_.used > 0) {
    const BoostedVerdict verdict = throttles ? BoostedVerdict{day_.promised, day_.over, day_.used}
                                             : BoostedVerdict{1 - day_.calm, day_.overrun ? 1.0 : 0.0, 1};
    boosted.verdict = verdict;
    const auto decay = [](float& sum, double v) { sum = static_cast<float>(kJudgeDecay * sum + v); };
    decay(promised_, verdict.promised);
    decay(realised_, verdict.harm);
    decay(weight_, verdict.weight);
  }
  boosted.latest = decision_.input;
  rows.push_back(std::move(row));
}

void BoostedRecommender::Observe(const Signal& signal) {
  if (fallback_ != nullptr) fallback_->Observe(signal);
  if (signal.tasks.empty()) return;
  const double need = NeedOf(signal);
  const Resource other = ThrottlesAtLimit(fleet_->resource()) ? Resource::kMemory : Resource::kCpu;
  const double tasks = static_cast<double>(signal.tasks.size());
  double sum = 0;
  for (const TaskUsage& t : signal.tasks) sum += t.mean;
  BoostedHistory::Window window{.hour = HourOf(signal.window),
                                .peak = static_cast<float>(need),
                                .mean = static_cast<float>(sum / tasks)};
  if (const auto& together = signal.together(other)) window.other = static_cast<float>(*together / tasks);
  if (signal.owner_limit.has_value()) window.owner_limit = static_cast<float>(*signal.owner_limit);
  history_.Add(window);
  AddOutcome(need);
  tasks_ = static_cast<float>(tasks);
  last_usage_ = static_cast<float>(need);
  const double in_force = signal.limit.value_or(limit_ >= 0 ? limit_ : signal.owner_limit.value_or(need));
  after_overrun_ = -1;
  if (need > in_force * (1 + kSameUse)) {
    day_.overrun = true;
    const bool cut = ThrottlesAtLimit(fleet_->resource()) && IsAtLimit(signal, signal.peak);
    after_overrun_ = static_cast<float>(cut ? kRaiseOfCut * *signal.cut_at
                                            : LimitAfterOverrun(need, fleet_->resource(), oom_));
  }
  CountWork(signal, in_force);
  day_.used += sum;
}

// Counts the work above the limit in force. Work that the limit cut is assumed, until the first window without a
// task at its limit shows the need.
void BoostedRecommender::CountWork(const Signal& signal, double in_force) {
  for (const TaskUsage& t : signal.tasks) day_.over += std::max(0.0, t.mean - in_force);
  if (!signal.cut_at.has_value() && cuts_.windows == 0) return;
  const double assumed = std::max(0.0, kNeedOfCut * signal.cut_at.value_or(0) - in_force);
  const double throttled = ThrottledShareBelow(signal);
  for (const TaskUsage& t : signal.tasks) day_.over += (IsAtLimit(signal, t.peak) ? 1 : throttled) * assumed;
  if (cuts_.Take(signal, in_force, assumed) || cuts_.windows == 0) return;
  day_.over = std::max(0.0, day_.over + cuts_.Correction(signal.peak, kShareOfFirstCut));
  cuts_ = {};
}

void BoostedRecommender::ObserveOom(const OomEvent& event) {
  if (fallback_ != nullptr) fallback_->ObserveOom(event);
  // The usage was cut off by the limit, so the assumed need is recorded.
  const double need = OomBump(event.limit, oom_);
  history_.Raise(static_cast<float>(need));
  AddOutcome(need);
  day_.overrun = true;
  last_usage_ = std::max(last_usage_, static_cast<float>(event.limit));
  const double raised = LimitAfterOverrun(last_usage_, fleet_->resource(), oom_);
  after_overrun_ = std::max(after_overrun_, static_cast<float>(raised));
}

std::optional<double> BoostedRecommender::Recommend(WindowId next) {
  if (PeriodOf(next) != period_) Decide(next);
  if (limit_ < 0) return fallback_ != nullptr ? fallback_->Recommend(next) : std::nullopt;
  if (decision_.period == period_) DecideEarly(next);
  RaiseAfterOverrun();
  return limit_;
}

// Returns the chance of a day above a limit with this chance in a period.
double BoostedRecommender::DayChance(double harm) const {
  const double day = 1 - std::pow(1 - harm, fleet_->settings().periods_per_day(fleet_->resource()));
  return std::min(1.0, day * fleet_->realised_ratio());
}

std::optional<double> BoostedRecommender::OverrunChance(double limit) const {
  if (limit_ < 0 || ThrottlesAtLimit(fleet_->resource())) return std::nullopt;
  return DayChance(fleet_->Forecast(decision_.input).HarmOf(limit));
}

void BoostedRecommender::UpdateRisk(double limit, LimitRisk& risk) const {
  if (limit_ < 0) return Recommender::UpdateRisk(limit, risk);
  risk.limit = limit;
  if (risk.asked == limit && risk.decided_day == decision_.period) return;
  risk.asked = limit;
  risk.decided_day = decision_.period;
  if (ThrottlesAtLimit(fleet_->resource())) {
    risk.work_ordered = static_cast<float>(job_.order.value_or(fleet_->order()));
    if (weight_ > 0) risk.work_over = realised_ / weight_;
    return;
  }
  risk.chance = *OverrunChance(limit);
  risk.most_chance = LimitRisk::kNone;
  const BoostedHistory::DayCount days = history_.CountDays(decision_.hour, limit);
  risk.days = static_cast<uint8_t>(days.measured);
  risk.days_over = static_cast<uint8_t>(days.above);
}

std::unique_ptr<Recommender> BoostedRecommender::Clone() const {
  auto copy = std::make_unique<BoostedRecommender>(
      *fleet_, fallback_ != nullptr ? fallback_->Clone() : nullptr, oom_, job_);
  // The new run keeps what is known of the job, and not what its last run did a moment ago.
  copy->history_ = history_;
  copy->decision_ = decision_;
  copy->move_ = move_;
  copy->limit_ = limit_;
  copy->move_from_ = move_from_;
  copy->regret_ = regret_;
  copy->tasks_ = tasks_;
  copy->period_ = period_;
  copy->seen_usage_ = seen_usage_;
  copy->promised_ = promised_;
  copy->realised_ = realised_;
  copy->weight_ = weight_;
  return copy;
}

size_t BoostedRecommender::state_bytes() const {
  return sizeof(*this) + lessons_.capacity() * sizeof(BoostedLesson) + periods_.capacity() * sizeof(int32_t) +
         (fallback_ != nullptr ? fallback_->state_bytes() : 0);
}

}  // namespace taut::brain
