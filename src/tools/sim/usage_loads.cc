#include "tools/sim/usage_loads.h"

#include <utility>

#include "common/model/usage.h"

namespace taut::tools {
namespace {

std::optional<double> CpuOf(const JobDay& day, const JobWindow& w) {
  std::optional<double> sum;
  for (uint32_t i = w.first_task; i < w.first_task + w.num_tasks; ++i) {
    if (const float mean = day.tasks[i].cpu_mean_cores; mean >= 0) sum = sum.value_or(0) + double{mean};
  }
  return sum;
}

struct Job {
  LoadSeries series;
  WindowId first;
  double limit = 0;

  void Take(const JobDay& day) {
    for (const JobWindow& w : day.windows) {
      if (w.cpu_limit_cores > 0) limit = w.cpu_limit_cores;
      const std::optional<double> load = CpuOf(day, w);
      if (!load.has_value()) continue;
      if (series.load.empty()) first = w.window;
      const auto at = static_cast<size_t>(w.window.index - first.index);
      series.load.resize(at, LoadSeries::kAbsentLoad);
      series.load.push_back(static_cast<float>(*load));
    }
  }
};

}  // namespace

absl::StatusOr<UsageLoads> ReadUsageLoads(DaySource& source) {
  std::vector<Job> jobs(source.jobs().size());
  for (const int32_t day : source.days()) {
    const absl::StatusOr<std::vector<JobDay>> of_day = source.LoadDay(day);
    if (!of_day.ok()) return of_day.status();
    for (const JobDay& job : *of_day) jobs[job.job.value].Take(job);
  }
  UsageLoads out;
  for (size_t i = 0; i < jobs.size(); ++i) {
    Job& job = jobs[i];
    if (job.series.load.empty()) continue;
    job.series.job = source.jobs()[i].name;
    job.series.start_s = job.first.start_s();
    job.series.step_s = kWindowSeconds;
    out.loads.push_back(std::move(job.series));
    out.limits.push_back(job.limit);
  }
  if (out.loads.empty()) return absl::InvalidArgumentError("the trace has no CPU usage");
  return out;
}

}  // namespace taut::tools
