#include "tools/sim/machine_days.h"

#include <algorithm>

namespace taut::tools {

void MachineDays::BeginDay(int32_t day) {
  // Gaps can add rows to the previous day only, so only the previous day stays open.
  if (days_.size() > 1) Settle(days_[days_.size() - 2]);
  final_until_ = days_.empty() ? day * kWindowsPerDay : days_.back().number * kWindowsPerDay;
  const int32_t oldest = day * kWindowsPerDay - brain::RecordedMachines::kLongestGap - 1;
  absl::erase_if(last_, [oldest](const auto& one) { return one.second.window < oldest; });
  days_.push_back({day, std::vector<Window>(kWindowsPerDay)});
}

void MachineDays::End() {
  if (days_.empty()) return;
  if (days_.size() > 1) Settle(days_[days_.size() - 2]);
  Settle(days_.back());
  final_until_ = (days_.back().number + 1) * kWindowsPerDay;
}

absl::StatusOr<bool> MachineDays::Read(DaySource& source,
                                       const std::function<void(double share)>& on_progress,
                                       const std::function<bool()>& should_stop,
                                       absl::FunctionRef<void()> after_day) {
  double done = 0;
  for (const int32_t day : source.days()) {
    if (on_progress) on_progress(done++ / static_cast<double>(source.days().size()));
    if (should_stop && should_stop()) return false;
    const absl::StatusOr<std::vector<JobDay>> jobs = source.LoadDay(day);
    if (!jobs.ok()) return jobs.status();
    BeginDay(day);
    for (const JobDay& job : *jobs) Add(job);
    after_day();
  }
  End();
  return true;
}

void MachineDays::Add(const JobDay& day) {
  for (const JobWindow& w : day.windows) {
    const float limit = w.limit(resource_);
    for (uint32_t i = w.first_task; i < w.first_task + w.num_tasks; ++i)
      AddTask(uint64_t{day.job.value} << 32 | day.tasks[i].task, day.tasks[i], w.window.index, limit,
              day.job);
  }
}

void MachineDays::AddTask(uint64_t task, const TaskWindow& usage, int32_t window, float limit, JobId job) {
  const float used = usage.judged(resource_);
  if (used < 0) return;
  const brain::RecordedMachines::Stay* stay = machines_.StayOf(job, usage.task, {window});
  if (stay == nullptr) {
    ++without_machine;
    return;
  }
  if (limit <= 0) {
    ++without_limit;
    return;
  }
  ++task_windows;
  Of(window)->rows.push_back({stay->machine, {task, used, limit}});
  const auto [at, added] = last_.try_emplace(task, Last{window, stay->machine, limit});
  if (added) return;
  if (at->second.machine != stay->machine) ++moves;
  // A task is on its machine during its whole stay. Add rows for the windows without a row.
  for (int32_t w = std::max(at->second.window + 1, stay->first); w < window; ++w) {
    if (Window* hole = Of(w); hole != nullptr)
      hole->rows.push_back({stay->machine, {task, -1, at->second.limit}});
  }
  at->second = {window, stay->machine, limit};
}

// Groups rows by machine and sorts them by task. Only rows added for a gap are out of order, so sorting is rare.
void MachineDays::Settle(Day& day) {
  for (Window& w : day.windows) {
    if (!w.first.empty()) continue;
    w.first.assign(machines_.size() + 1, 0);
    for (const Row& row : w.rows) ++w.first[row.machine + 1];
    for (size_t m = 1; m < w.first.size(); ++m) w.first[m] += w.first[m - 1];
    std::vector<uint32_t> next(w.first.begin(), w.first.end() - 1);
    w.loads.resize(w.rows.size());
    for (const Row& row : w.rows) w.loads[next[row.machine]++] = row.load;
    for (size_t m = 0; m + 1 < w.first.size(); ++m) {
      const auto tasks = std::span(w.loads).subspan(w.first[m], w.first[m + 1] - w.first[m]);
      if (!std::ranges::is_sorted(tasks, {}, &brain::TaskLoad::task))
        std::ranges::sort(tasks, {}, &brain::TaskLoad::task);
    }
    w.rows = {};
  }
}

MachineDays::Window* MachineDays::Of(int32_t window) {
  return const_cast<Window*>(std::as_const(*this).Of(window));
}
const MachineDays::Window* MachineDays::Of(int32_t window) const {
  const auto number = static_cast<int32_t>(FloorDiv(window, kWindowsPerDay));
  const auto day = std::ranges::lower_bound(days_, number, {}, &Day::number);
  if (day == days_.end() || day->number != number) return nullptr;
  return &day->windows[static_cast<size_t>(window - number * kWindowsPerDay)];
}

std::span<const brain::TaskLoad> MachineDays::Tasks(int32_t window, uint32_t machine) const {
  const Window* w = Of(window);
  if (w == nullptr) return {};
  return std::span(w->loads).subspan(w->first[machine], w->first[machine + 1] - w->first[machine]);
}

bool MachineDays::Any(int32_t window) const {
  const Window* w = Of(window);
  return w != nullptr && !w->loads.empty();
}

void MachineDays::DropBefore(int32_t window) {
  const auto number = static_cast<int32_t>(FloorDiv(window, kWindowsPerDay));
  while (!days_.empty() && days_.front().number < number) days_.pop_front();
}

}  // namespace taut::tools
