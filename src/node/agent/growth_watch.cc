#include "node/agent/growth_watch.h"

#include <algorithm>

namespace taut::node {

void GrowthWatch::Note(double usage, int64_t now_us, int64_t step_us) {
  const bool is_gap = now_.has_value() && now_us - now_->at_us > step_us;
  if (is_gap || (now_.has_value() && now_us < now_->at_us)) before_ = middle_ = std::nullopt;
  now_ = Point{now_us, usage};
  if (!middle_.has_value()) {
    middle_ = now_;
  } else if (now_us - middle_->at_us >= step_us) {
    before_ = middle_;
    middle_ = now_;
  }
}

// Growth is required in both steps: one step of growth may be a burst that has ended.
std::optional<int64_t> GrowthWatch::Until(double limit) const {
  if (!before_.has_value() || !(now_->usage >= middle_->usage && middle_->usage > before_->usage))
    return std::nullopt;
  if (now_->usage >= limit) return 0;
  const double rate = (now_->usage - before_->usage) / static_cast<double>(now_->at_us - before_->at_us);
  constexpr double kFar = 1e15;
  return static_cast<int64_t>(std::min(kFar, (limit - now_->usage) / rate));
}

}  // namespace taut::node
