// Detects memory that grows towards a limit, from samples of open windows.
#include <algorithm>

#include "server/ingest/live_windows.h"

namespace taut::server {
namespace {

constexpr int64_t kGrowthStepMs = 60'000;
constexpr int64_t kFreshMs = 60'000;  // greatest age of the newest sample of a growing task

// Memory of a task now, and one and two steps ago, added up over its parts.
struct Growth {
  double now = 0, before = 0, first = 0;
  bool is_known = true;
};

// Returns the last sample at or before a time; nullptr if there is none.
const RemoteSample* LastUntil(std::span<const RemoteSample> samples, int64_t time_ms) {
  const auto after = std::upper_bound(samples.begin(), samples.end(), time_ms,
                                      [](int64_t t, const RemoteSample& s) { return t < s.timestamp_ms; });
  if (after == samples.begin() || IsStaleMarker((after - 1)->value)) return nullptr;
  return &*(after - 1);
}

void AddPart(std::span<const RemoteSample> samples, double scale, int64_t now_ms, Growth& task) {
  const RemoteSample* const now = LastUntil(samples, now_ms);
  // Without a fresh sample of each part, the task's sum is unknown. A missing sample must not look like a
  // decrease.
  if (now == nullptr || now->timestamp_ms < now_ms - kFreshMs) {
    task.is_known = false;
    return;
  }
  const RemoteSample* const before = LastUntil(samples, now->timestamp_ms - kGrowthStepMs);
  const RemoteSample* const first = LastUntil(samples, now->timestamp_ms - 2 * kGrowthStepMs);
  task.is_known &= before != nullptr && first != nullptr;
  if (!task.is_known) return;
  task.now += now->value * scale;
  task.before += before->value * scale;
  task.first += first->value * scale;
}

}  // namespace

std::vector<GrowthSighting> LiveWindows::FindGrowth(std::span<const JobLimit> limits, Timestamp now,
                                                    const SeriesMapper& mapper) {
  SortSlots(mapper);
  std::vector<GrowthSighting> out;
  for (const JobLimit& wanted : limits) {
    auto at = std::ranges::lower_bound(order_, wanted.job, {},
                                       [&](uint32_t slot) { return mapper.binding(slot).job; });
    double highest = 0;
    while (at != order_.end() && mapper.binding(*at).job == wanted.job) {
      Growth task;
      bool is_measured = false;
      const uint32_t entry = mapper.binding(*at).task_entry;
      for (; at != order_.end() && mapper.binding(*at).task_entry == entry; ++at) {
        const SeriesBinding& binding = mapper.binding(*at);
        if (binding.kind != SeriesKind::kMemoryBytes || *at >= samples_.size() || samples_[*at].empty())
          continue;
        is_measured = true;
        AddPart(samples_[*at], double{binding.scale}, MillisOf(now), task);
      }
      if (!is_measured || !task.is_known || !(task.now > task.before && task.before > task.first)) continue;
      const double rate = (task.now - task.first) / (2.0 * kGrowthStepMs / 1000);
      highest = std::max(highest, task.now + rate * kWindowSeconds);
    }
    if (highest > wanted.bytes) out.push_back({wanted.job, highest});
  }
  return out;
}

}  // namespace taut::server
