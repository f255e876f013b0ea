// Explains the limits of the work function.
#include <algorithm>
#include <string>
#include <string_view>

#include "brain/recommend/work_function.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr int32_t kHoursPerWeek = 7 * 24;
// 1970-01-01 was a Thursday.
constexpr std::string_view kWeekdays[] = {"Thursday", "Friday",  "Saturday", "Sunday",
                                          "Monday",   "Tuesday", "Wednesday"};

}  // namespace

void WorkFunctionRecommender::UpdateRisk(double limit, LimitRisk& risk) const {
  Recommender::UpdateRisk(limit, risk);
  if (level_ < 0 || used_ <= 0) return;
  risk.work_over = std::min(1.0F, over_ / used_);
  if (order_.has_value() || fleet_->settings().price <= 0)
    risk.work_ordered = static_cast<float>(order_.value_or(fleet_->settings().order(fleet_->resource())));
}

void WorkFunctionRecommender::Explain(Reason& reason) const {
  reason.recommender = "work_function";
  const Resource resource = fleet_->resource();
  if (level_ < 0) {
    reason.sentence = fmt::format("The owner's limit stays for the first {:g} hours of a job.",
                                  fleet_->settings().min_history_s / kHour);
    return;
  }
  const std::string unit = fmt::format("{}-hours", UnitOf(resource).one);
  const Prices prices = PricesNow();
  const int level = std::max(level_, ahead_.level);
  const double limit = Level(resource, level);
  const double share = used_ > 0 ? over_ / used_ : 0;
  const std::string_view what = ThrottlesAtLimit(resource) ? "throttled" : "above its limit";
  const bool own = order_.has_value();
  reason.sentence = fmt::format(
      "{:.2g} % of this job's work of the last weeks was {} ({:.2g} % ordered {}). The limit moves when it "
      "has cost one change ({:.2g} hours of {} limit) more than another would have.",
      100 * share, what, 100 * order_.value_or(fleet_->settings().order(resource)),
      own ? "for this job" : "over all jobs",
      (own ? prices.change / Level(resource, level_) : fleet_->change_windows()) / kWindowsPerHour,
      own ? "its" : "a mean job's");
  reason.sentence += ExplainAhead(prices) + ExplainStarts();
  const std::string used = FormatAmount(resource, move_usage_);
  switch (move_) {
    case Move::kRaise:
      reason.why = fmt::format(
          "usage of {} was above the limit of {}; raised to what the job has used above it before", used,
          FormatAmount(resource, move_from_));
      break;
    case Move::kFall:
      reason.why = fmt::format("the limit of {} had cost one change more than a lower one",
                               FormatAmount(resource, move_from_));
      break;
    case Move::kStart:
    case Move::kNone:
      reason.why = "the limit that would have cost least so far";
      break;
  }
  if (level > level_)
    reason.why = "a burst is expected in this hour, as in those of the days or weeks before";
  reason.facts.push_back({"price of work above the limit", prices.over, "times its reservation"});
  reason.facts.push_back({"charge for a change", prices.change / kWindowsPerHour, unit});
  reason.facts.push_back({"cost so far above the best limit's", cost_.At(level) / kWindowsPerHour, unit});
  const int best = Cheapest();
  reason.cost_unit = unit;
  for (const int k : {best, level}) {
    reason.candidates.push_back({k == best ? "cheapest in hindsight" : "this limit", Level(resource, k),
                                 cost_.At(k) / kWindowsPerHour, "", k == level});
    if (best == level) break;
  }
  reason.steps.push_back({"level", 0, limit});
}

std::string WorkFunctionRecommender::ExplainAhead(const Prices& prices) const {
  if (!IsFarOver()) return "";
  const int32_t first = std::max(HourOf(last_window_), ahead_.level >= 0 ? ahead_.hour : INT32_MIN);
  for (int32_t hour = first; hour < first + kHoursPerWeek; ++hour) {
    const auto burst = WorthRaising(hour, prices);
    if (!burst.has_value()) continue;
    const int64_t day = FloorDiv(hour, 24);
    const std::string when = burst->weekly
                                 ? fmt::format("on {} of the last {} weeks",
                                               kWeekdays[day - FloorDiv(day, 7) * 7], HourLevels::kWeeks)
                                 : fmt::format("on each of the last {} days", HourLevels::kDays);
    const Resource r = fleet_->resource();
    return fmt::format(
        " Usage rose to {} in the hour from {:02}:00 UTC {}: the limit is {} in that hour and {} around it, "
        "which has spared {:.2g} % of the work.",
        FormatAmount(r, Level(r, burst->highest)), hour - day * 24, when,
        FormatAmount(r, Level(r, burst->highest)), FormatAmount(r, Level(r, level_)),
        used_ > 0 ? 100 * spared_ / used_ : 0);
  }
  return "";
}

// Returns a sentence only for CPU: memory has no separate limit for starts.
std::string WorkFunctionRecommender::ExplainStarts() const {
  const Resource r = fleet_->resource();
  if (!ThrottlesAtLimit(r) || over_ <= order_.value_or(fleet_->settings().order(r)) * used_) return "";
  if (start_over_ < over_ / 2) return "";
  return fmt::format(
      " {:.0f} % of the throttled work was in the first 10 minutes of a task: with the job setting "
      "cpu.startup_window=10m starts have a limit of their own.",
      100 * std::min(1.0F, start_over_ / over_));
}

}  // namespace taut::brain
