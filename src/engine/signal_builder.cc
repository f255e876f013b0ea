#include "engine/signal_builder.h"

#include <algorithm>

namespace taut {
namespace {

void AppendMemoryBuckets(std::span<const TaskUsage> tasks, std::vector<BucketWeight>& buckets) {
  const size_t first = buckets.size();
  const Grid& grid = Grid::Memory();
  for (const TaskUsage& t : tasks) buckets.push_back({grid.BucketOf(t.peak), 1.0F});
  if (tasks.size() < 2) return;
  const auto begin = buckets.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, buckets.end(),
            [](const BucketWeight& a, const BucketWeight& b) { return a.bucket < b.bucket; });
  auto out = begin;
  for (auto it = begin + 1; it != buckets.end(); ++it) {
    if (it->bucket == out->bucket) {
      out->weight += it->weight;
    } else {
      *++out = *it;
    }
  }
  buckets.erase(out + 1, buckets.end());
}

}  // namespace

void MemoryBuckets(std::span<const TaskUsage> tasks, std::vector<BucketWeight>& buckets) {
  buckets.clear();
  AppendMemoryBuckets(tasks, buckets);
}

void Summarise(const Grid& grid, Signal& signal) {
  double weight = 0;
  double sum = 0;
  for (const BucketWeight& b : signal.buckets) {
    weight += b.weight;
    sum += b.weight * grid.UpperBound(b.bucket);
  }
  signal.weight = weight;
  signal.mean = weight > 0 ? sum / weight : 0;
  float peak = 0;
  for (const TaskUsage& t : signal.tasks) peak = std::max(peak, t.peak);
  signal.peak = peak;
}

void DaySignals::Build(const JobDay& day, Resource resource) {
  signals_.clear();
  extents_.clear();
  tasks_.clear();
  buckets_.clear();
  const bool cpu = resource == Resource::kCpu;
  for (const JobWindow& w : day.windows) {
    Extent e{.first_task = tasks_.size(), .first_bucket = buckets_.size()};
    double cpu_cores = 0, memory_bytes = 0;
    bool measures_cpu = false, measures_memory = false;
    for (uint32_t i = 0; i < w.num_tasks; ++i) {
      const TaskWindow& t = day.tasks[w.first_task + i];
      if (t.cpu_mean_cores >= 0) {
        cpu_cores += t.cpu_mean_cores;
        measures_cpu = true;
      }
      if (t.memory_mean_bytes >= 0) {
        memory_bytes += t.memory_mean_bytes;
        measures_memory = true;
      }
      // CPU above the limit is throttled second by second, but what is judged is the 5-minute mean.
      const TaskUsage usage = cpu ? TaskUsage{t.task, t.cpu_mean_cores, t.cpu_mean_cores}
                                  : TaskUsage{t.task, t.memory_mean_bytes, t.memory_peak_bytes};
      if (usage.mean >= 0 && usage.peak >= 0) tasks_.push_back(usage);
    }
    e.num_tasks = tasks_.size() - e.first_task;
    if (e.num_tasks == 0) continue;
    if (cpu) {
      buckets_.insert(buckets_.end(), day.cpu_buckets.begin() + w.first_bucket,
                      day.cpu_buckets.begin() + w.first_bucket + w.num_buckets);
    } else {
      AppendMemoryBuckets({tasks_.data() + e.first_task, e.num_tasks}, buckets_);
    }
    e.num_buckets = buckets_.size() - e.first_bucket;
    const float owner = cpu ? w.cpu_limit_cores : w.memory_limit_bytes;
    Signal s{.window = w.window, .buckets = {}, .tasks = {}, .owner_limit = {}};
    if (owner >= 0) s.owner_limit = owner;
    const float owner_sum = cpu ? w.cpu_limit_sum_cores : w.memory_limit_sum_bytes;
    if (owner_sum >= 0) s.owner_limit_sum = owner_sum;
    if (w.load >= 0) s.load = w.load;
    if (measures_cpu) s.cpu_cores = cpu_cores;
    if (measures_memory) s.memory_bytes = memory_bytes;
    if (w.cpu_limit_cores >= 0) s.owner_cpu_limit = w.cpu_limit_cores;
    if (w.memory_limit_bytes >= 0) s.owner_memory_limit = w.memory_limit_bytes;
    s.named = std::span(day.signals).subspan(w.first_signal, w.num_signals);
    if (cpu && w.cpu_throttled >= 0) s.throttled = w.cpu_throttled;
    signals_.push_back(s);
    extents_.push_back(e);
  }
  const Grid& grid = GridOf(resource);
  for (size_t i = 0; i < signals_.size(); ++i) {
    const Extent& e = extents_[i];
    signals_[i].tasks = {tasks_.data() + e.first_task, e.num_tasks};
    signals_[i].buckets = {buckets_.data() + e.first_bucket, e.num_buckets};
    Summarise(grid, signals_[i]);
  }
}

}  // namespace taut
