#include "tools/sim/recorded_tasks.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "common/base/time.h"

namespace taut::tools {
namespace {

// Number of windows without a measurement after which a task counts as ended.
constexpr int32_t kGoneAfter = kWindowsPerHour;

}  // namespace

int64_t CellAmountOf(Resource r, double amount) {
  const double exact = amount * CellUnitsOf(r), nearest = std::round(exact);
  const double units = std::abs(exact - nearest) <= 1e-6 * exact ? nearest : std::ceil(exact);
  return static_cast<int64_t>(std::clamp(units, 0.0, static_cast<double>(brain::kMaxCellAmount)));
}

SourceUntil::SourceUntil(DaySource& source, WindowId until) : source_(source), until_(until) {
  for (const int32_t day : source.days()) {
    if (day * kWindowsPerDay < until.index) days_.push_back(day);
  }
}

absl::StatusOr<std::vector<JobDay>> SourceUntil::LoadDay(int32_t day) {
  absl::StatusOr<std::vector<JobDay>> jobs = source_.LoadDay(day);
  if (!jobs.ok() || (day + 1) * kWindowsPerDay <= until_.index) return jobs;
  for (JobDay& job : *jobs) {
    std::erase_if(job.windows, [this](const JobWindow& w) { return w.window >= until_; });
    std::erase_if(job.kills, [this](const TaskKills& k) { return k.window >= until_; });
  }
  std::erase_if(*jobs, [](const JobDay& job) { return job.windows.empty(); });
  return jobs;
}

absl::Status ForEachDay(DaySource& source, const std::function<bool()>& should_stop,
                        const std::function<void(std::string_view what, double share)>& on_progress,
                        std::string_view what,
                        absl::FunctionRef<void(const std::vector<JobDay>& jobs)> take) {
  size_t done = 0;
  for (const int32_t day : source.days()) {
    if (should_stop && should_stop()) return absl::CancelledError("interrupted: there is no result");
    const absl::StatusOr<std::vector<JobDay>> jobs = source.LoadDay(day);
    if (!jobs.ok()) return jobs.status();
    take(*jobs);
    if (on_progress)
      on_progress(what, static_cast<double>(++done) / static_cast<double>(source.days().size()));
  }
  return absl::OkStatus();
}

RecordedTasks::Range RecordedTasks::Of(const std::string& job) const {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? Range() : it->second;
}

uint32_t RecordedTasks::NumberOf(JobId job, uint32_t task) const {
  const auto it = numbers_.find(uint64_t{job.value} << 32U | task);
  return it == numbers_.end() ? kNone : it->second;
}

absl::StatusOr<RecordedTasks> ReadRecordedTasks(DaySource& source, const brain::CellModel& cell,
                                                WindowId until) {
  absl::flat_hash_map<std::string_view, uint32_t> rows;
  for (uint32_t j = 0; j < cell.jobs.size(); ++j) rows[cell.jobs[j].name] = j;
  SourceUntil before(source, until);
  absl::flat_hash_map<uint64_t, int32_t> last_of_task;
  std::vector<int32_t> last_of_row(cell.jobs.size(), INT32_MIN);
  for (const int32_t day : before.days()) {
    const absl::StatusOr<std::vector<JobDay>> jobs = before.LoadDay(day);
    if (!jobs.ok()) return jobs.status();
    for (const JobDay& job : *jobs) {
      const auto row = rows.find(source.jobs()[job.job.value].name);
      if (row == rows.end()) continue;
      for (const JobWindow& w : job.windows) {
        for (uint32_t i = w.first_task; i < w.first_task + w.num_tasks; ++i) {
          last_of_task[uint64_t{job.job.value} << 32U | job.tasks[i].task] = w.window.index;
          last_of_row[row->second] = std::max(last_of_row[row->second], w.window.index);
        }
      }
    }
  }
  std::vector<std::tuple<uint32_t, uint64_t>> present;  // row in the cell, and task as in last_of_task
  for (const auto& [task, last] : last_of_task) {
    const uint32_t row = rows.at(source.jobs()[task >> 32U].name);
    if (last > last_of_row[row] - kGoneAfter) present.emplace_back(row, task);
  }
  std::ranges::sort(present);
  RecordedTasks out;
  for (const auto& [row, task] : present) {
    const auto number = static_cast<uint32_t>(out.rows_.size());
    RecordedTasks::Range& range =
        out.jobs_.try_emplace(cell.jobs[row].name, RecordedTasks::Range{number, 0}).first->second;
    ++range.count;
    out.numbers_[task] = number;
    out.rows_.push_back(row);
  }
  return out;
}

}  // namespace taut::tools
