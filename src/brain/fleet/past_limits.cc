#include "brain/fleet/past_limits.h"

#include <algorithm>

namespace taut::brain {

const PastLimits::Change* PastLimits::Find(uint64_t decision) const {
  const auto it = std::ranges::find(changes_, decision, &Change::decision);
  return it == changes_.end() ? nullptr : &*it;
}

void PastLimits::Note(uint64_t decision, int64_t now_s, std::optional<double> before) {
  if (changes_.size() == kKept) changes_.erase(changes_.begin());
  changes_.push_back({decision, now_s, now_s + kApplySeconds, before, false});
}

void PastLimits::NoteSent(uint64_t decision, int64_t now_s) {
  Change* const change = Find(decision);
  if (change == nullptr || now_s <= change->from_s) return;
  change->from_s = now_s;
  change->to_s = now_s + kApplySeconds;
}

void PastLimits::NoteOutcome(uint64_t decision, Outcome outcome, int64_t time_s) {
  Change* const change = Find(decision);
  if (change == nullptr || outcome == Outcome::kPending) return;
  change->is_missed = outcome == Outcome::kFailed || outcome == Outcome::kSuperseded;
  change->to_s = change->is_missed ? INT64_MAX : std::max(change->from_s, time_s);
}

std::optional<double> PastLimits::LowestIn(int64_t since_s, int64_t until_s,
                                           std::optional<double> now) const {
  std::optional<double> lowest = now;
  int64_t next_to_s = INT64_MAX;
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
    const int64_t to_s = change->is_missed ? next_to_s : change->to_s;
    if (since_s > to_s) break;
    next_to_s = to_s;
    const std::optional<double>& before = change->before;
    const bool was_before = until_s < change->from_s;
    if (was_before || !lowest.has_value() || (before.has_value() && *before < *lowest)) lowest = before;
  }
  return lowest;
}

}  // namespace taut::brain
