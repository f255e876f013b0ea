#include "tools/sim/fleet_moves.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/time.h"

namespace taut::tools {
namespace {

// Adds pairs of loads, as tautd does: the load at a decision, and the load one start-up time before.
void AddMoves(const LoadSeries& series, int64_t decide_every_s, double startup_s,
              std::map<int64_t, brain::LoadMoves>& by_day) {
  const int64_t every = std::max<int64_t>(1, (decide_every_s + series.step_s - 1) / series.step_s);
  const double decisions = std::ceil(startup_s / static_cast<double>(every * series.step_s));
  const auto before = static_cast<size_t>(every * static_cast<int64_t>(std::clamp(decisions, 1.0, 288.0)));
  for (size_t i = before; i < series.load.size(); i += static_cast<size_t>(every)) {
    const auto then = series.At(i - before), now = series.At(i);
    if (then.has_value() && now.has_value()) by_day[FloorDiv(series.time_s(i), kDaySeconds)].Add(*then, *now);
  }
}

}  // namespace

FleetMoves::FleetMoves(std::span<const LoadSeries> loads, int64_t decide_every_s, double startup_s) {
  std::map<int64_t, brain::LoadMoves> by_day;
  for (const LoadSeries& series : loads) AddMoves(series, decide_every_s, startup_s, by_day);
  if (by_day.empty()) return;
  first_day_ = by_day.begin()->first + 1;
  brain::LoadAnalogs known;
  for (int64_t day = first_day_; day <= by_day.rbegin()->first + 1; ++day) {
    known.CloseDay();
    if (const auto moves = by_day.find(day - 1); moves != by_day.end()) known.Take(moves->second);
    days_.push_back(known);
  }
}

const brain::LoadAnalogs* FleetMoves::At(int64_t time_s) const {
  const int64_t day = FloorDiv(time_s, kDaySeconds);
  if (days_.empty() || day < first_day_) return nullptr;
  return &days_[static_cast<size_t>(std::min(day - first_day_, static_cast<int64_t>(days_.size()) - 1))];
}

}  // namespace taut::tools
