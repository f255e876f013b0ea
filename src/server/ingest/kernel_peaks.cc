#include "server/ingest/kernel_peaks.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace taut::server {
namespace {

struct TaskPeaks {
  JobId job;
  double reported = 0, parts = 0;
  bool rose = false, is_met = false;

  double bytes() const { return reported > 0 ? reported : parts; }
};

void Add(const TaskPeaks& task, KernelPeak& job) {
  const double bytes = task.bytes();
  if (bytes <= 0) return;
  job.standing.push_back(static_cast<float>(bytes));
  if (task.rose) {
    job.bytes = std::max(job.bytes, bytes);
  } else if (task.is_met) {
    job.met.push_back(static_cast<float>(bytes));
  }
}

}  // namespace

void KernelPeaks::See(uint32_t slot, double bytes) {
  if (!(bytes > 0) || !std::isfinite(bytes)) return;
  const auto peak = static_cast<float>(bytes);
  const auto [it, is_new] = peaks_.try_emplace(slot, peak);
  if (!is_new && peak == it->second) return;
  if (is_new) {
    met_.push_back(slot);
  } else if (peak > it->second) {
    risen_.push_back(slot);
  }
  it->second = peak;
}

std::vector<KernelPeak> KernelPeaks::TakeRisen(const SeriesMapper& mapper) {
  if (risen_.empty() && met_.empty()) return {};
  std::map<uint32_t, TaskPeaks> tasks;  // peaks by the entry of the task in SeriesTasks
  const auto of = [&](uint32_t slot) -> TaskPeaks& { return tasks[mapper.binding(slot).task_entry]; };
  for (const uint32_t slot : risen_) {
    if (mapper.binding(slot).in_use) of(slot).rose = true;
  }
  for (const uint32_t slot : met_) {
    if (mapper.binding(slot).in_use) of(slot).is_met = true;
  }
  risen_.clear();
  met_.clear();
  for (const auto& [slot, bytes] : peaks_) {
    const SeriesBinding& binding = mapper.binding(slot);
    if (!binding.in_use || binding.left_out) continue;
    TaskPeaks& task = of(slot);
    task.job = binding.job;
    (binding.kind == SeriesKind::kTaskWindow ? task.reported : task.parts) += double{bytes};
  }
  std::map<JobId, KernelPeak> jobs;
  for (const auto& [entry, task] : tasks) {
    if ((task.rose || task.is_met) && task.bytes() > 0) jobs[task.job].job = task.job;
  }
  for (const auto& [entry, task] : tasks) {
    if (const auto job = jobs.find(task.job); job != jobs.end()) Add(task, job->second);
  }
  std::vector<KernelPeak> out;
  for (auto& [id, job] : jobs) out.push_back(std::move(job));
  return out;
}

void KernelPeaks::Drop(std::span<const uint32_t> slots) {
  for (const uint32_t slot : slots) peaks_.erase(slot);
  for (std::vector<uint32_t>* const list : {&risen_, &met_})
    std::erase_if(*list, [&](uint32_t slot) { return !peaks_.contains(slot); });
}

}  // namespace taut::server
