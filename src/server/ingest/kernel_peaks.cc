#include "server/ingest/kernel_peaks.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace taut::server {
namespace {

struct TaskPeaks {
  JobId job;
  double reported = 0, parts = 0;
  bool rose = false;
};

}  // namespace

void KernelPeaks::See(uint32_t slot, double bytes) {
  if (!(bytes > 0) || !std::isfinite(bytes)) return;
  const auto peak = static_cast<float>(bytes);
  const auto [it, is_new] = peaks_.try_emplace(slot, peak);
  if (!is_new && peak == it->second) return;
  if (is_new || peak > it->second) risen_.push_back(slot);
  it->second = peak;
}

std::vector<KernelPeak> KernelPeaks::TakeRisen(const SeriesMapper& mapper) {
  if (risen_.empty()) return {};
  std::map<uint32_t, TaskPeaks> tasks;  // by entry
  const auto of = [&](uint32_t slot) -> TaskPeaks& { return tasks[mapper.binding(slot).task_entry]; };
  for (const uint32_t slot : risen_) {
    if (mapper.binding(slot).in_use) of(slot).rose = true;
  }
  risen_.clear();
  for (const auto& [slot, bytes] : peaks_) {
    const SeriesBinding& binding = mapper.binding(slot);
    if (!binding.in_use || binding.left_out) continue;
    TaskPeaks& task = of(slot);
    task.job = binding.job;
    (binding.kind == SeriesKind::kTaskWindow ? task.reported : task.parts) += double{bytes};
  }
  std::map<JobId, double> highest;
  for (const auto& [entry, task] : tasks) {
    const double bytes = task.reported > 0 ? task.reported : task.parts;
    if (task.rose && bytes > 0) highest[task.job] = std::max(highest[task.job], bytes);
  }
  std::vector<KernelPeak> out;
  for (const auto& [job, bytes] : highest) out.push_back({job, bytes});
  return out;
}

void KernelPeaks::Drop(std::span<const uint32_t> slots) {
  for (const uint32_t slot : slots) peaks_.erase(slot);
  std::erase_if(risen_, [&](uint32_t slot) { return !peaks_.contains(slot); });
}

}  // namespace taut::server
