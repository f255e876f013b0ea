#include "tools/cli/mapping_jobs.h"

#include "common/base/strings.h"
#include "common/model/counted.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

std::string YesNo(bool yes) { return yes ? "yes" : "-"; }

}  // namespace

void MappedJobs::Add(const server::Mapping& m) {
  if (server::IsFact(m.kind)) {
    ++facts_;
    return;
  }
  Job& job = jobs_[m.job];
  ++job.series;
  if (server::IsLoad(m.kind)) return;  // a load belongs to the whole job, not to a task
  job.tasks.insert(m.task);
  switch (m.kind) {
    case server::SeriesKind::kCpuSecondsTotal:
    case server::SeriesKind::kCpuCores:
      job.cpu = true;
      break;
    case server::SeriesKind::kMemoryBytes:
      job.memory = true;
      break;
    case server::SeriesKind::kCpuLimitCores:
      job.cpu_limit = true;
      break;
    case server::SeriesKind::kMemoryLimitBytes:
      job.memory_limit = true;
      break;
    case server::SeriesKind::kCpuRequestCores:
    case server::SeriesKind::kMemoryRequestBytes:
    case server::SeriesKind::kCpuPeriodsTotal:
    case server::SeriesKind::kCpuThrottledPeriodsTotal:
    case server::SeriesKind::kStartTime:
    case server::SeriesKind::kMemoryPeak:
      break;
    case server::SeriesKind::kOomTotal:
      job.oom_survivors = true;
      break;
    default:
      job.oom = true;
  }
}

void MappedJobs::AddUnmapped(std::string_view metric) { ++unmapped_[std::string(metric)]; }

std::string_view MappedJobs::OomText(const Job& job) {
  return job.oom ? "yes" : job.oom_survivors ? "partly" : "-";
}

std::string MappedJobs::Text() const {
  std::string out;
  size_t series = 0;
  if (!jobs_.empty()) {
    TextTable table({"JOB", "TASKS", "SERIES", "CPU", "MEMORY", "CPU LIMIT", "MEMORY LIMIT", "OOM KILLS"});
    for (const auto& [name, job] : jobs_) {
      table.Add({Printable(name), StrCat(job.tasks.size()), StrCat(job.series), YesNo(job.cpu),
                 YesNo(job.memory), YesNo(job.cpu_limit), YesNo(job.memory_limit),
                 std::string(OomText(job))});
      series += job.series;
    }
    out = table.Render() + "\n";
  }
  StrAppend(&out, Counted(jobs_.size(), "job"), " of ", series, " series; ", facts_,
            " series about pods (owners, labels, init containers)\n");
  size_t without = 0;
  for (const auto& [metric, count] : unmapped_) without += count;
  if (without == 0) return out;
  StrAppend(&out, without, " series without a rule:");
  for (const auto& [metric, count] : unmapped_) StrAppend(&out, "\n  ", count, " ", Printable(metric));
  return out + "\n";
}

Json MappedJobs::ToJson() const {
  Json out = Json::array();
  for (const auto& [name, job] : jobs_) {
    out.push_back({{"job", name},
                   {"tasks", job.tasks.size()},
                   {"series", job.series},
                   {"cpu", job.cpu},
                   {"memory", job.memory},
                   {"cpu_limit", job.cpu_limit},
                   {"memory_limit", job.memory_limit},
                   {"oom_kills", job.oom             ? "yes"
                                 : job.oom_survivors ? "partly"
                                                     : "no"}});
  }
  return out;
}

}  // namespace taut::tools
