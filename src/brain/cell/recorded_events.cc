#include "brain/cell/recorded_events.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/byte_units.h"

namespace taut::brain {
namespace {

constexpr double kHourUs = 3600.0 * kMicrosPerSecond;

uint64_t EventKey(const TraceEvent& e) { return uint64_t{e.job} << 32 | e.task; }

void SetFirst(int64_t& time, int64_t other) {
  if (time < 0) time = other;
}

}  // namespace

std::string_view EndName(size_t end) {
  static constexpr std::string_view kNames[] = {"evicted", "failed", "finished", "killed", "lost"};
  return kNames[end];
}

std::string_view Name(ScalingMode mode) {
  static constexpr std::string_view kNames[] = {"unknown", "off", "constrained", "full"};
  return kNames[static_cast<size_t>(mode)];
}

uint64_t EventFigures::jobs() const {
  uint64_t n = 0;
  for (const TierEvents& tier : tiers) n += tier.jobs;
  return n;
}

EventFold::EventFold(const std::vector<RecordedJob>& jobs, Odd odd)
    : jobs_(jobs), odd_(std::move(odd)), spans_(jobs.size()) {}

void EventFold::Take(const TraceEvent& event) {
  if (event.time_us > 0) {
    if (out_.last_us == 0) out_.first_us = event.time_us;
    out_.last_us = std::max(out_.last_us, event.time_us);
  }
  if (event.task == kWholeJob) return TakeJob(event);
  const uint64_t key = EventKey(event);
  switch (event.kind) {
    case TraceEventKind::kSubmit:
      return Submit(event, key);
    case TraceEventKind::kReady:
      return;
    case TraceEventKind::kStart:
      return Start(event, key);
    case TraceEventKind::kRequest:
      return Request(event, key);
    default:
      return End(event, key);
  }
}

EventHour& EventFold::HourOf(const TraceEvent& event) {
  return out_.hours[FloorDiv(event.time_us, 3600 * kMicrosPerSecond)];
}

void EventFold::TakeJob(const TraceEvent& event) {
  JobSpan& span = spans_[event.job];
  switch (event.kind) {
    case TraceEventKind::kSubmit:
      // A job that failed or was evicted may be submitted again and does not count as a new job.
      if (span.submit_us >= 0) return;
      span.submit_us = event.time_us;
      if (event.time_us > 0 && !jobs_[event.job].is_alloc_set) ++HourOf(event).jobs;
      return;
    case TraceEventKind::kReady:
      return SetFirst(span.ready_us, event.time_us);
    case TraceEventKind::kStart:
      return SetFirst(span.start_us, event.time_us);
    case TraceEventKind::kRequest:
      return;
    default:
      if (span.submit_us < 0 && span.start_us < 0 && span.tasks == 0)
        return odd_("end of a job that was not submitted", event);
      span.end_us = event.time_us;
      span.end = event.kind;
  }
}

void EventFold::Ask(const TraceEvent& event, Living& task) {
  if (event.cpu_cores >= 0) task.cpu_cores = event.cpu_cores;
  if (event.memory_bytes >= 0) task.memory_bytes = event.memory_bytes;
}

void EventFold::Submit(const TraceEvent& event, uint64_t key) {
  const auto [at, added] = living_.try_emplace(key);
  if (!added) return odd_("submission of a task that is there", event);
  JobSpan& span = spans_[event.job];
  // A row without requests is assumed to have the largest request of the job's other tasks.
  at->second.cpu_cores = span.cpu_cores;
  at->second.memory_bytes = span.memory_bytes;
  Ask(event, at->second);
  ++span.live;
  if (span.submit_us < 0) {
    span.submit_us = event.time_us;  // the trace has no earlier event of the job
    if (event.time_us > 0 && !jobs_[event.job].is_alloc_set) ++HourOf(event).jobs;
  }
  const bool is_new = seen_.insert(key).second;
  if (is_new) {
    ++span.tasks;
    span.cpu_cores = std::max(span.cpu_cores, at->second.cpu_cores);
    span.memory_bytes = std::max(span.memory_bytes, at->second.memory_bytes);
  }
  if (jobs_[event.job].is_alloc_set) return;
  ++TierOf(event.job).submissions;
  if (event.time_us > 0) ++(is_new ? HourOf(event).new_tasks : HourOf(event).tasks_again);
}

void EventFold::Start(const TraceEvent& event, uint64_t key) {
  auto at = living_.find(key);
  JobSpan& span = spans_[event.job];
  if (at == living_.end()) {
    odd_("start of a task that was not submitted", event);
    at = living_.try_emplace(key).first;
    ++span.live;
    if (seen_.insert(key).second) ++span.tasks;
  } else if (at->second.since_us >= 0) {
    return odd_("start of a task that runs", event);
  }
  Living& task = at->second;
  Ask(event, task);
  task.since_us = task.counted_us = event.time_us;
  SetFirst(span.start_us, event.time_us);
  span.cpu_cores = span.cpu_cores > 0 ? span.cpu_cores : task.cpu_cores;
  span.memory_bytes = span.memory_bytes > 0 ? span.memory_bytes : task.memory_bytes;
  if (!jobs_[event.job].is_alloc_set) ++TierOf(event.job).starts;
}

void EventFold::AddRun(uint32_t job, const Living& task, int64_t until_us) {
  if (task.since_us < 0) return;
  const double hours = static_cast<double>(until_us - task.counted_us) / kHourUs;
  const double cpu = hours * task.cpu_cores, memory = hours * task.memory_bytes / kGiB;
  const RecordedJob& facts = jobs_[job];
  if (facts.is_alloc_set) {
    out_.allocs.cpu_hours += cpu;
    out_.allocs.gib_hours += memory;
    return;
  }
  TierOf(job).cpu_hours += cpu;
  TierOf(job).gib_hours += memory;
  out_.scaling_cpu_hours[static_cast<size_t>(facts.scaling)] += cpu;
  if (facts.in_alloc_set) return;
  out_.allocs.others_cpu_hours += cpu;
  out_.allocs.others_gib_hours += memory;
}

void EventFold::End(const TraceEvent& event, uint64_t key) {
  const auto at = living_.find(key);
  if (at == living_.end()) return odd_("end of a task that was not there", event);
  JobSpan& span = spans_[event.job];
  AddRun(event.job, at->second, event.time_us);
  const bool for_good = event.kind != TraceEventKind::kEvict && event.kind != TraceEventKind::kLost;
  if (at->second.since_us >= 0 && for_good) {
    ++span.runs;
    span.run_us += static_cast<double>(event.time_us - at->second.since_us);
  }
  if (!jobs_[event.job].is_alloc_set)
    ++TierOf(event.job).ends[static_cast<size_t>(event.kind) - static_cast<size_t>(TraceEventKind::kEvict)];
  living_.erase(at);
  // The last end among the job's tasks is the job's end, unless a task is submitted later.
  if (--span.live == 0) span.end_us = event.time_us;
}

void EventFold::Request(const TraceEvent& event, uint64_t key) {
  const auto at = living_.find(key);
  if (at == living_.end()) return odd_("change of a task that is not there", event);
  Living& task = at->second;
  const Living before = task;
  Ask(event, task);
  if (task.cpu_cores == before.cpu_cores && task.memory_bytes == before.memory_bytes) return;
  AddRun(event.job, before, event.time_us);
  if (task.since_us >= 0) task.counted_us = event.time_us;
  // All tasks of a job share one limit. The trace changes the tasks one after the other, which counts as one
  // change.
  JobSpan& span = spans_[event.job];
  const auto same = [&](float cpu, float memory) {
    return cpu == task.cpu_cores && memory == task.memory_bytes;
  };
  const bool known = span.changes.empty()
                         ? same(span.cpu_cores, span.memory_bytes)
                         : same(span.changes.back().cpu_cores, span.changes.back().memory_bytes);
  if (!known) span.changes.push_back({event.time_us, task.cpu_cores, task.memory_bytes});
}

// Adds a job whose tasks have no recorded events. All of its tasks run from the job's start to its end.
void EventFold::AddTold(uint32_t job) {
  const RecordedJob& facts = jobs_[job];
  JobSpan& span = spans_[job];
  if (facts.told_tasks == 0) return;
  span.tasks = facts.told_tasks;
  span.cpu_cores = facts.told_cpu_cores;
  span.memory_bytes = facts.told_memory_bytes;
  TierEvents& tier = TierOf(job);
  tier.submissions += span.tasks;
  if (span.submit_us > 0)
    out_.hours[FloorDiv(span.submit_us, 3600 * kMicrosPerSecond)].new_tasks += span.tasks;
  if (span.start_us < 0) return;
  tier.starts += span.tasks;
  const Living all{span.start_us, span.start_us, span.cpu_cores * static_cast<float>(span.tasks),
                   span.memory_bytes * static_cast<float>(span.tasks)};
  AddRun(job, all, span.end_us >= 0 ? span.end_us : out_.last_us);
  if (span.end_us >= 0)
    tier.ends[static_cast<size_t>(span.end) - static_cast<size_t>(TraceEventKind::kEvict)] += span.tasks;
}

EventFigures EventFold::Finish() {
  // Sums depend on the order of their terms, and the order of a hash map differs between runs.
  std::vector<std::pair<uint64_t, Living>> living(living_.begin(), living_.end());
  std::ranges::sort(living, {}, [](const auto& task) { return task.first; });
  for (const auto& [key, task] : living) AddRun(static_cast<uint32_t>(key >> 32), task, out_.last_us);
  for (uint32_t j = 0; j < jobs_.size(); ++j) {
    JobSpan& span = spans_[j];
    if (span.live > 0) span.end_us = -1;
    if (span.tasks == 0) AddTold(j);
    const RecordedJob& job = jobs_[j];
    const bool any = span.submit_us >= 0 || span.start_us >= 0 || span.tasks > 0;
    if (!any) continue;
    ++out_.allocs.collections;
    if (job.is_alloc_set) {
      ++out_.allocs.sets;
      out_.allocs.production_sets += IsProduction(job.tier) ? 1 : 0;
      continue;
    }
    out_.allocs.jobs_inside += job.in_alloc_set ? 1 : 0;
    ++out_.scaling_jobs[static_cast<size_t>(job.scaling)];
    TierEvents& tier = TierOf(j);
    ++tier.jobs;
    tier.tasks += span.tasks;
    if (span.submit_us <= 0 || job.start_only) continue;
    if (span.start_us < 0) {
      ++tier.never_started;
    } else {
      const int64_t from = std::max(span.submit_us, span.ready_us);
      tier.delays_s.push_back(static_cast<float>(
          static_cast<double>(std::max<int64_t>(span.start_us - from, 0)) / kMicrosPerSecond));
    }
  }
  return std::move(out_);
}

}  // namespace taut::brain
