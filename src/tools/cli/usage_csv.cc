#include "tools/cli/usage_csv.h"

#include <cmath>
#include <iterator>

#include "common/base/strings.h"
#include "common/histogram/grid.h"
#include "fmt/format.h"

namespace taut::tools {
namespace {

// Writes a name as a CSV field. Quotes a name with a comma, quotes, or blanks that a reader would remove. CsvField
// is unsuitable: it alters names that a spreadsheet would evaluate as a formula, but a replay must read the same
// names.
void PutName(std::string_view name, std::string& out) {
  const bool plain = !name.empty() && name.find_first_of(",\"#") == std::string_view::npos &&
                     name.front() > ' ' && name.back() > ' ';
  if (plain) {
    out += name;
    return;
  }
  out += '"';
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void PutIfKnown(double value, std::string& out) {
  out += ',';
  if (value >= 0 && std::isfinite(value)) StrAppend(&out, static_cast<float>(value));
}

// Returns the middle of the bucket, so that rounding cannot move a value to another bucket.
double MiddleOf(Bucket bucket) {
  const Grid& grid = Grid::Cpu();
  return bucket == 0 ? grid.UpperBound(0) / 2 : std::sqrt(grid.UpperBound(bucket) * grid.LowerBound(bucket));
}

}  // namespace

void UsageCsv::TakeCpu(uint32_t task, std::span<const BucketWeight> buckets) {
  cpu_.push_back({task, static_cast<uint32_t>(buckets_.size()), static_cast<uint32_t>(buckets.size())});
  buckets_.insert(buckets_.end(), buckets.begin(), buckets.end());
}

void UsageCsv::TakeKills(std::span<const server::OomSighting> kills) {
  for (const server::OomSighting& k : kills) {
    kills_[{WindowId::Of(k.time).index, k.job.value, k.task}] += k.kills;
    kills_taken_ += k.kills;
  }
}

void UsageCsv::Add(const ClosedWindow& closed, absl::FunctionRef<std::string_view(JobId)> name,
                   std::string& out) {
  next_cpu_ = 0;
  for (const JobWindowData& job : closed.jobs) {
    const JobWindow& w = job.window;
    if (w.num_tasks == 0) continue;
    jobs_.insert(job.job.value);
    if (w.cpu_limit_cores >= 0 || w.memory_limit_bytes >= 0) limited_.insert(job.job.value);
    const std::string_view job_name = name(job.job);
    for (const TaskWindow& task : std::span(closed.tasks).subspan(w.first_task, w.num_tasks)) {
      tasks_.insert(uint64_t{job.job.value} << 32 | task.task);
      uint64_t kills = 0;
      if (const auto it = kills_.find({closed.window.index, job.job.value, task.task}); it != kills_.end()) {
        kills = it->second;
        kills_.erase(it);
      }
      kills_written_ += kills;
      AddRow(w, task, job_name, kills, out);
    }
  }
  cpu_.clear();
  buckets_.clear();
  absl::erase_if(kills_, [&](const auto& k) { return k.first.window <= closed.window.index; });
}

void UsageCsv::AddRow(const JobWindow& window, const TaskWindow& task, std::string_view job, uint64_t kills,
                      std::string& out) {
  ++rows_;
  // CPU usage of tasks was added in the same order as the tasks.
  std::span<const BucketWeight> cpu;
  if (next_cpu_ < cpu_.size() && cpu_[next_cpu_].task == task.task) {
    cpu = std::span(buckets_).subspan(cpu_[next_cpu_].first, cpu_[next_cpu_].count);
    ++next_cpu_;
  }
  double seconds = 0;
  for (const BucketWeight& b : cpu) seconds += b.weight;
  // A task that started or ended in the window was measured for a shorter time.
  const double duration = seconds > 0 ? std::min<double>(seconds, kWindowSeconds) : kWindowSeconds;
  StrAppend(&out, window.window.start_s(), ",", static_cast<float>(duration), ",");
  PutName(job, out);
  StrAppend(&out, ",", task.task);
  PutIfKnown(task.cpu_mean_cores, out);
  PutIfKnown(task.cpu_peak_cores, out);
  out += ',';
  for (const BucketWeight& b : cpu)
    fmt::format_to(std::back_inserter(out), "{}{:.5g}:{:.6g}", out.back() == ',' ? "" : " ",
                   MiddleOf(b.bucket), b.weight);
  PutIfKnown(task.memory_peak_bytes, out);
  PutIfKnown(window.cpu_limit_cores, out);
  PutIfKnown(window.memory_limit_bytes, out);
  out += ',';
  if (knows_kills_ || kills > 0) StrAppend(&out, kills);
  out += '\n';
}

}  // namespace taut::tools
