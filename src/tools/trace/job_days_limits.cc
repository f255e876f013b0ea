// Sorts limit changes and removes superfluous changes.
#include "tools/trace/job_days_limits.h"

#include <algorithm>
#include <cassert>

namespace taut::tools {

void LimitHistory::AddChange(JobId job, Timestamp t, float limit) {
  constexpr int64_t kWindowUs = kWindowSeconds * kMicrosPerSecond;
  // Compute the first window that starts at or after t. A change after the last window number never takes effect.
  const int64_t us = std::clamp(t.us, INT64_MIN / 2, INT64_MAX / 2);
  const int64_t window = FloorDiv(us + kWindowUs - 1, kWindowUs);
  if (window > INT32_MAX) return;
  if (window < INT32_MIN) {
    Add({job.value, INT32_MIN, 0, limit});
  } else {
    const int64_t rank = us - (window - 1) * kWindowUs;  // range: (0, kWindowUs]
    Add({job.value, static_cast<int32_t>(window), static_cast<uint32_t>(rank), limit});
  }
}

void LimitHistory::AddRow(JobId job, WindowId window, float limit) {
  if (job.value >= pending_.size()) pending_.resize(std::max<size_t>(job.value + 1, pending_.size() * 2));
  Pending& pending = pending_[job.value];
  if (pending.limit < 0 || WindowId{pending.window}.day() != window.day()) {
    if (pending.limit >= 0) Add({job.value, pending.window, kFromRow, pending.limit});
    pending = {window.index, limit};
  } else if (window.index > pending.window) {
    pending = {window.index, limit};
  } else if (window.index == pending.window) {
    pending.limit = std::max(pending.limit, limit);
  }
}

void LimitHistory::Add(const Change& change) {
  if (changes_.size() >= compact_at_) {
    Compact();
    compact_at_ = std::max(compact_at_, 2 * changes_.size());
  }
  changes_.push_back(change);
}

void LimitHistory::Compact() {
  // Sorts the changes of a window by rank and limit. Then the last change of a window is a row's limit if there is
  // one, else the latest change. If several changes have the same time, the last one has the largest limit.
  std::sort(changes_.begin(), changes_.end());
  size_t kept = 0;
  for (size_t i = 0; i < changes_.size(); ++i) {
    const bool last_of_window = i + 1 == changes_.size() || changes_[i + 1].job != changes_[i].job ||
                                changes_[i + 1].window != changes_[i].window;
    if (last_of_window) changes_[kept++] = changes_[i];
  }
  changes_.resize(kept);
}

// Removes changes that repeat the limit in force. Keeps the changes of a job with limits in rows, because not all
// of the job's limits are stored here and a change may only seem to repeat the limit.
void LimitHistory::DropRepeats() {
  size_t kept = 0;
  for (size_t i = 0; i < changes_.size();) {
    size_t end = i;
    bool any_from_row = false;
    for (; end < changes_.size() && changes_[end].job == changes_[i].job; ++end) {
      any_from_row |= changes_[end].rank == kFromRow;
    }
    const size_t first_kept = kept;
    for (; i < end; ++i) {
      const bool may_drop = changes_[i].rank == kFromRow || !any_from_row;
      if (may_drop && kept > first_kept && changes_[kept - 1].limit == changes_[i].limit) continue;
      changes_[kept++] = changes_[i];
    }
  }
  changes_.resize(kept);
}

void LimitHistory::Finish(size_t num_jobs) {
  for (size_t j = 0; j < pending_.size(); ++j) {
    if (pending_[j].limit >= 0)
      changes_.push_back({static_cast<uint32_t>(j), pending_[j].window, kFromRow, pending_[j].limit});
  }
  pending_ = {};
  Compact();
  DropRepeats();
  changes_.shrink_to_fit();
  first_.assign(num_jobs + 1, 0);
  for (const Change& change : changes_) {
    assert(change.job < num_jobs);
    ++first_[change.job + 1];
  }
  for (size_t j = 0; j < num_jobs; ++j) first_[j + 1] += first_[j];
}

std::span<const LimitHistory::Change> LimitHistory::ChangesOf(JobId job) const {
  assert(job.value + 1 < first_.size());
  return std::span(changes_).subspan(first_[job.value], first_[job.value + 1] - first_[job.value]);
}

}  // namespace taut::tools
