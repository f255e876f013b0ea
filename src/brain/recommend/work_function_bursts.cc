// Bursts that recur in the same hour of each day or week.
#include <algorithm>
#include <optional>

#include "brain/recommend/work_function.h"

namespace taut::brain {
// Returns the highest level of yesterday's usage in the coming look-ahead hours; 0 if yesterday was not
// measured.
int WorkFunctionRecommender::YesterdaysLevel(WindowId window) const {
  const int32_t yesterday = HourOf(window.index) - 24;
  int level = 0;
  for (int ahead = 1; ahead <= fleet_->look_ahead_hours(); ++ahead)
    level = std::max(level, hours_.At(yesterday + ahead));
  return level;
}

double WorkFunctionRecommender::MostShare() const {
  const WorkFunctionSettings& s = fleet_->settings();
  return s.job_cap * (order_.has_value() ? *order_ : s.order(fleet_->resource()) / price_factor_);
}

// Returns true if the job has far more work above its limits than the target. Also counts the work that an hour's
// raise kept below the limit, because otherwise a successful raise would end itself. Returns false for memory,
// where a limit that falls each day would cause kills.
bool WorkFunctionRecommender::IsFarOver() const {
  return ThrottlesAtLimit(fleet_->resource()) && fleet_->settings().job_cap > 0 &&
         over_ + spared_ > MostShare() * used_;
}

// Returns the burst of the hour if a raise is worth its cost. One window of the burst above the limit must cost
// more than the reservation for the hour plus a change.
std::optional<HourLevels::Burst> WorkFunctionRecommender::WorthRaising(int32_t hour,
                                                                       const Prices& prices) const {
  const std::optional<HourLevels::Burst> burst = hours_.Foresee(hour, level_);
  if (!burst.has_value()) return std::nullopt;
  const auto above = [&](int level) {
    return Level(fleet_->resource(), level) - Level(fleet_->resource(), level_);
  };
  const double reserved = kWindowsPerHour * above(burst->highest);
  return prices.over * above(burst->lowest) >= reserved + prices.change ? burst : std::nullopt;
}

void WorkFunctionRecommender::LookAhead(int32_t hour) {
  ahead_ = {.hour = hour};
  if (level_ < 0 || !IsFarOver()) return;
  if (const auto burst = WorthRaising(hour, PricesNow()); burst.has_value()) ahead_.level = burst->highest;
}

}  // namespace taut::brain
