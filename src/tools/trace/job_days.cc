// Folds usage rows: packs and groups the rows by day on arrival, and sorts and merges them when a day is loaded.
#include "tools/trace/job_days.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "absl/container/flat_hash_map.h"
#include "tools/trace/job_days_limits.h"
#include "tools/trace/job_days_pack.h"

namespace taut::tools {
namespace {

struct DayBuffer {
  ChunkedArray<RowRecord, 1024> rows;
  ChunkedArray<RowShare, 4096> shares;
  std::vector<SpillFile::Run> runs;

  size_t bytes() const { return rows.bytes() + shares.bytes(); }
};

// Converts the rows of one day to JobDays.
class DayBuilder {
 public:
  DayBuilder(int32_t day, const DayRows& day_rows, size_t num_jobs, const LimitHistory& cpu_limits,
             const LimitHistory& memory_limits)
      : day_(day),
        in_(day_rows),
        num_jobs_(num_jobs),
        cpu_limits_(cpu_limits),
        memory_limits_(memory_limits) {}

  std::vector<JobDay> Build();
  const FoldReport& report() const { return report_; }

 private:
  // Sort key of a row within its job: window, task, start.
  struct Place {
    uint64_t window_task = 0;
    uint32_t start_us = 0;
    uint32_t row = 0;
    auto operator<=>(const Place&) const = default;
  };
  // Sums over the rows of one task in one window. A resource's seconds cover the rows in which it was measured.
  struct TaskSum {
    double cpu = 0, cpu_seconds = 0, memory = 0, memory_seconds = 0;
    float cpu_peak = kAbsent, memory_peak = kAbsent;
    uint64_t kills = 0;
    bool tells_kills = false;
  };
  // Largest limits among the rows of one task in a window.
  struct OwnLimits {
    float cpu_cores = kAbsent, memory_bytes = kAbsent;
  };
  // Position in the limit changes of one job while the windows of a day are visited.
  struct LimitCursor {
    std::span<const LimitHistory::Change> rest;
    float limit = kAbsent;
    // Returns the limit in force in the window. `row_limit` is the largest limit of the window's rows, or kAbsent.
    // REQUIRES: windows ascend.
    float At(int32_t window, float row_limit);
  };

  std::vector<uint32_t> RowsByJob();
  void BuildJob(JobId job, std::span<const uint32_t> rows, JobDay& out);
  void CountLateRows(std::span<const uint32_t> rows);
  void AddWindow(std::span<const Place> places, JobDay& out, JobWindow& window);
  void SumOwnLimits(const JobDay& out, JobWindow& window) const;
  void AddTask(std::span<const Place> places, const OwnLimits& own, WindowId window, JobDay& out);
  static void SettleKills(const JobWindow& window, JobDay& out);
  // Returns one row for all rows with the same task and start, merged by maximum.
  RowRecord MergeDuplicates(std::span<const Place> places, std::span<const RowShare>& shares);
  void AddRow(const RowRecord& row, std::span<const RowShare> shares, TaskSum& sum);
  void AddCpuSeconds(Bucket bucket, double seconds);
  void TakeCpuSignal(JobDay& out, JobWindow& window);
  std::span<const RowShare> SharesOf(uint32_t row) const {
    return std::span(in_.shares).subspan(first_share_[row], in_.rows[row].num_shares);
  }

  const int32_t day_;
  const DayRows& in_;
  const size_t num_jobs_;
  const LimitHistory& cpu_limits_;
  const LimitHistory& memory_limits_;
  FoldReport report_;
  std::vector<size_t> first_share_;  // index of a row's first share, by row
  std::vector<size_t> first_row_;    // index of a job's first row in the order of RowsByJob()
  // Scratch memory, reused between jobs and windows.
  std::vector<Place> places_;
  std::vector<OwnLimits> own_limits_;  // limits by task of the window
  absl::flat_hash_map<uint32_t, uint64_t> latest_start_;
  double cpu_seconds_[Grid::kMaxBuckets] = {};
  Bucket lowest_ = Grid::kMaxBuckets, highest_ = 0;  // range of used elements of cpu_seconds_
};

float DayBuilder::LimitCursor::At(int32_t window, float row_limit) {
  while (!rest.empty() && rest.front().window <= window) {
    limit = rest.front().limit;
    rest = rest.subspan(1);
  }
  if (row_limit >= 0) limit = row_limit;
  return limit;
}

// A stable counting sort, so the rows of a job keep their order of arrival.
std::vector<uint32_t> DayBuilder::RowsByJob() {
  first_row_.assign(num_jobs_ + 1, 0);
  for (const RowRecord& row : in_.rows) ++first_row_[row.job + 1];
  std::partial_sum(first_row_.begin(), first_row_.end(), first_row_.begin());
  std::vector<size_t> next(first_row_.begin(), first_row_.end() - 1);
  std::vector<uint32_t> order(in_.rows.size());
  for (uint32_t i = 0; i < in_.rows.size(); ++i) order[next[in_.rows[i].job]++] = i;
  return order;
}

std::vector<JobDay> DayBuilder::Build() {
  const std::vector<uint32_t> order = RowsByJob();
  first_share_.resize(in_.rows.size());
  size_t share = 0;
  for (size_t i = 0; i < in_.rows.size(); ++i) {
    first_share_[i] = share;
    share += in_.rows[i].num_shares;
  }
  size_t num_alive = 0;
  for (size_t j = 0; j < num_jobs_; ++j) num_alive += first_row_[j] < first_row_[j + 1] ? 1 : 0;
  std::vector<JobDay> out(num_alive);
  size_t next = 0;
  for (size_t j = 0; j < num_jobs_; ++j) {
    const auto rows = std::span(order).subspan(first_row_[j], first_row_[j + 1] - first_row_[j]);
    if (!rows.empty()) BuildJob(JobId{static_cast<uint32_t>(j)}, rows, out[next++]);
  }
  return out;
}

void DayBuilder::CountLateRows(std::span<const uint32_t> rows) {
  latest_start_.clear();
  for (const uint32_t r : rows) {
    const RowRecord& row = in_.rows[r];
    const uint64_t start = uint64_t{row.window_in_day} << 32 | row.start_us;
    const auto [it, is_new] = latest_start_.try_emplace(row.task, start);
    if (!is_new && start < it->second) ++report_.late_rows;
    if (!is_new && start > it->second) it->second = start;
  }
}

void DayBuilder::BuildJob(JobId job, std::span<const uint32_t> rows, JobDay& out) {
  out.job = job;
  out.day = day_;
  places_.clear();
  places_.reserve(rows.size());
  for (const uint32_t r : rows) {
    const RowRecord& row = in_.rows[r];
    places_.push_back({uint64_t{row.window_in_day} << 32 | row.task, row.start_us, r});
  }
  if (!std::is_sorted(places_.begin(), places_.end())) {
    CountLateRows(rows);
    std::sort(places_.begin(), places_.end());
  }
  out.tasks.reserve(rows.size());
  LimitCursor cpu{.rest = cpu_limits_.ChangesOf(job)};
  LimitCursor memory{.rest = memory_limits_.ChangesOf(job)};
  for (size_t i = 0; i < places_.size();) {
    const uint64_t window_in_day = places_[i].window_task >> 32;
    size_t end = i;
    while (end < places_.size() && places_[end].window_task >> 32 == window_in_day) ++end;
    JobWindow window{.window = {day_ * kWindowsPerDay + static_cast<int32_t>(window_in_day)}};
    AddWindow(std::span(places_).subspan(i, end - i), out, window);
    window.cpu_limit_cores = cpu.At(window.window.index, window.cpu_limit_cores);
    window.memory_limit_bytes = memory.At(window.window.index, window.memory_limit_bytes);
    SumOwnLimits(out, window);
    SettleKills(window, out);
    out.windows.push_back(window);
    i = end;
  }
  report_.job_windows += out.windows.size();
  report_.task_windows += out.tasks.size();
}

void DayBuilder::AddWindow(std::span<const Place> places, JobDay& out, JobWindow& window) {
  window.first_task = static_cast<uint32_t>(out.tasks.size());
  own_limits_.clear();
  for (size_t i = 0; i < places.size();) {
    size_t end = i;
    OwnLimits own;
    for (; end < places.size() && places[end].window_task == places[i].window_task; ++end) {
      const RowRecord& row = in_.rows[places[end].row];
      own.cpu_cores = std::max(own.cpu_cores, row.cpu_limit);
      own.memory_bytes = std::max(own.memory_bytes, row.memory_limit);
    }
    window.cpu_limit_cores = std::max(window.cpu_limit_cores, own.cpu_cores);
    window.memory_limit_bytes = std::max(window.memory_limit_bytes, own.memory_bytes);
    own_limits_.push_back(own);
    AddTask(places.subspan(i, end - i), own, window.window, out);
    i = end;
  }
  window.num_tasks = static_cast<uint32_t>(out.tasks.size()) - window.first_task;
  TakeCpuSignal(out, window);
}

// Sums the tasks' limits. A task without a limit in its rows has the limit of the job.
void DayBuilder::SumOwnLimits(const JobDay& out, JobWindow& window) const {
  double cpu_sum = 0;
  double memory_sum = 0;
  bool cpu_differs = false;
  bool memory_differs = false;
  for (size_t i = 0; i < own_limits_.size(); ++i) {
    const TaskWindow& task = out.tasks[window.first_task + i];
    if (task.cpu_mean_cores >= 0) {
      const float own = own_limits_[i].cpu_cores >= 0 ? own_limits_[i].cpu_cores : window.cpu_limit_cores;
      cpu_sum += own;
      cpu_differs |= own != window.cpu_limit_cores;
    }
    if (task.memory_mean_bytes >= 0) {
      const float own =
          own_limits_[i].memory_bytes >= 0 ? own_limits_[i].memory_bytes : window.memory_limit_bytes;
      memory_sum += own;
      memory_differs |= own != window.memory_limit_bytes;
    }
  }
  if (cpu_differs) window.cpu_limit_sum_cores = static_cast<float>(cpu_sum);
  if (memory_differs) window.memory_limit_sum_bytes = static_cast<float>(memory_sum);
}

// Sets unknown limits of killed tasks to the job's limit, or without a job's limit to the task's peak usage.
void DayBuilder::SettleKills(const JobWindow& window, JobDay& out) {
  for (size_t i = out.kills.size(); i-- > 0 && out.kills[i].window == window.window;) {
    TaskKills& kills = out.kills[i];
    if (kills.killed_at_bytes >= 0) continue;
    const auto first = out.tasks.begin() + window.first_task;
    const auto task =
        std::find_if(first, out.tasks.end(), [&](const TaskWindow& t) { return t.task == kills.task; });
    kills.killed_at_bytes =
        window.memory_limit_bytes >= 0 ? window.memory_limit_bytes : task->memory_peak_bytes;
  }
}

void DayBuilder::AddTask(std::span<const Place> places, const OwnLimits& own, WindowId window, JobDay& out) {
  TaskSum sum;
  size_t distinct = 0;
  for (size_t i = 0; i < places.size(); ++distinct) {
    size_t end = i + 1;
    while (end < places.size() && places[end].start_us == places[i].start_us) ++end;
    std::span<const RowShare> shares;
    const RowRecord row = MergeDuplicates(places.subspan(i, end - i), shares);
    AddRow(row, shares, sum);
    i = end;
  }
  if (distinct > 1) ++report_.shared_windows;
  TaskWindow task{.task = static_cast<uint32_t>(places.front().window_task)};
  if (sum.cpu_seconds > 0) {
    task.cpu_mean_cores = static_cast<float>(sum.cpu / sum.cpu_seconds);
    task.cpu_peak_cores = sum.cpu_peak;
  }
  if (sum.memory_seconds > 0) {
    task.memory_mean_bytes = static_cast<float>(sum.memory / sum.memory_seconds);
    task.memory_peak_bytes = sum.memory_peak;
  }
  out.tasks.push_back(task);
  out.kills_told += sum.tells_kills ? 1 : 0;
  if (sum.kills == 0) return;
  const auto kills = static_cast<uint32_t>(std::min<uint64_t>(sum.kills, RowRecord::kNotTold - 1));
  out.kills.push_back({window, task.task, kills, own.memory_bytes});
}

RowRecord DayBuilder::MergeDuplicates(std::span<const Place> places, std::span<const RowShare>& shares) {
  RowRecord merged = in_.rows[places[0].row];
  shares = SharesOf(places[0].row);
  for (const Place& place : places.subspan(1)) {
    const RowRecord& row = in_.rows[place.row];
    ++report_.duplicates;
    for (float RowRecord::*figure : {&RowRecord::seconds, &RowRecord::cpu_mean, &RowRecord::cpu_peak,
                                     &RowRecord::memory_mean, &RowRecord::memory_peak}) {
      merged.*figure = std::max(merged.*figure, row.*figure);
    }
    const bool tells_more = row.oom_kills != RowRecord::kNotTold &&
                            (merged.oom_kills == RowRecord::kNotTold || row.oom_kills > merged.oom_kills);
    if (tells_more) merged.oom_kills = row.oom_kills;
    // Choose the greater shares, an arbitrary rule that makes the result independent of the order of arrival.
    const std::span<const RowShare> other = SharesOf(place.row);
    if (std::lexicographical_compare(shares.begin(), shares.end(), other.begin(), other.end()))
      shares = other;
  }
  return merged;
}

void DayBuilder::AddRow(const RowRecord& row, std::span<const RowShare> shares, TaskSum& sum) {
  if (row.oom_kills != RowRecord::kNotTold) {
    sum.tells_kills = true;
    sum.kills += row.oom_kills;
  }
  if (row.cpu_mean >= 0) {
    sum.cpu += double{row.cpu_mean} * row.seconds;
    sum.cpu_seconds += row.seconds;
    sum.cpu_peak = std::max(sum.cpu_peak, row.cpu_peak);
    if (shares.empty()) AddCpuSeconds(Grid::Cpu().BucketOf(row.cpu_mean), row.seconds);
    for (const RowShare& share : shares) AddCpuSeconds(share.bucket, share.fraction() * row.seconds);
  }
  if (row.memory_mean >= 0) {
    sum.memory += double{row.memory_mean} * row.seconds;
    sum.memory_seconds += row.seconds;
    sum.memory_peak = std::max(sum.memory_peak, row.memory_peak);
  }
}

void DayBuilder::AddCpuSeconds(Bucket bucket, double seconds) {
  cpu_seconds_[bucket] += seconds;
  lowest_ = std::min(lowest_, bucket);
  highest_ = std::max(highest_, bucket);
}

void DayBuilder::TakeCpuSignal(JobDay& out, JobWindow& window) {
  window.first_bucket = static_cast<uint32_t>(out.cpu_buckets.size());
  for (int k = lowest_; k <= highest_; ++k) {
    if (cpu_seconds_[k] <= 0) continue;
    out.cpu_buckets.push_back({static_cast<Bucket>(k), static_cast<float>(cpu_seconds_[k])});
    cpu_seconds_[k] = 0;
  }
  lowest_ = Grid::kMaxBuckets;
  highest_ = 0;
  window.num_buckets = static_cast<uint32_t>(out.cpu_buckets.size()) - window.first_bucket;
}

}  // namespace

struct JobDayStore::Impl {
  explicit Impl(Options o) : options(std::move(o)), spill(options.spill_directory) {}

  void SpillSome();
  absl::Status SpillDay(DayBuffer& day);
  void Store(const RowRecord& record, std::span<const RowShare> its_shares, int32_t day);

  const Options options;
  SpillFile spill;
  absl::Status status;
  bool finished = false;
  std::vector<JobInfo> jobs;
  std::vector<int32_t> job_last_day;  // last day with usage by JobId
  LimitHistory cpu_limits, memory_limits;
  std::map<int32_t, DayBuffer> days;
  std::vector<int32_t> day_list;
  // The day of the last row with its buffer, which avoids most look-ups.
  int32_t last_day = 0;
  DayBuffer* last_buffer = nullptr;
  size_t bytes = 0;              // size of all day buffers
  std::vector<RowShare> shares;  // scratch memory, reused for each row
  mutable FoldReport report;
  mutable std::set<int32_t> counted;  // days that `report` includes
};

// Writes days to the file until half of the budget is free, so that spilling is rare. Writes the largest days
// first, because long runs are efficient.
void JobDayStore::Impl::SpillSome() {
  std::vector<std::pair<size_t, DayBuffer*>> by_size;
  for (auto& [number, day] : days) by_size.emplace_back(day.bytes(), &day);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [size, day] : by_size) {
    if (bytes <= options.memory_budget_bytes / 2) break;
    if (status = SpillDay(*day); !status.ok()) return;
    bytes -= size;
  }
}

absl::Status JobDayStore::Impl::SpillDay(DayBuffer& day) {
  DayRows rows;
  day.rows.AppendTo(rows.rows);
  day.shares.AppendTo(rows.shares);
  absl::StatusOr<SpillFile::Run> run = spill.Append(rows);
  if (!run.ok()) return run.status();
  day.runs.push_back(*run);
  day.rows.Clear();
  day.shares.Clear();
  return absl::OkStatus();
}

JobDayStore::JobDayStore(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
JobDayStore::~JobDayStore() = default;

void JobDayStore::OnJob(JobId id, const JobInfo& info) {
  assert(id.value == impl_->jobs.size());
  (void)id;
  impl_->jobs.push_back(info);
  impl_->job_last_day.push_back(INT32_MIN);
}

void JobDayStore::Impl::Store(const RowRecord& record, std::span<const RowShare> its_shares, int32_t day) {
  // After a failed write, the result would be incomplete. Finish() returns the error.
  if (!status.ok()) return;
  ++report.rows;
  const JobId job{record.job};
  const WindowId window{day * kWindowsPerDay + record.window_in_day};
  if (record.cpu_limit >= 0) cpu_limits.AddRow(job, window, record.cpu_limit);
  if (record.memory_limit >= 0) memory_limits.AddRow(job, window, record.memory_limit);
  job_last_day[record.job] = std::max(job_last_day[record.job], day);
  if (last_buffer == nullptr || day != last_day) {
    last_buffer = &days[day];
    last_day = day;
  }
  const size_t before = last_buffer->bytes();
  last_buffer->rows.PushBack(record);
  for (const RowShare& share : its_shares) last_buffer->shares.PushBack(share);
  bytes += last_buffer->bytes() - before;
  if (bytes > options.memory_budget_bytes) SpillSome();
}

void JobDayStore::OnUsage(const UsageRow& row) {
  Impl& my = *impl_;
  assert(!my.finished && row.job.value < my.jobs.size() && row.end > row.start);
  const RowRecord record = PackRow(row, my.shares);  // sets the shares
  my.Store(record, my.shares, WindowId::Of(row.start).day());
}

void JobDayStore::AddRows(JobId job, int32_t day, const DayRows& rows) {
  Impl& my = *impl_;
  assert(!my.finished && job.value < my.jobs.size());
  std::span<const RowShare> rest = rows.shares;
  for (RowRecord row : rows.rows) {
    row.job = job.value;
    my.Store(row, rest.first(row.num_shares), day);
    rest = rest.subspan(row.num_shares);
  }
}

void JobDayStore::OnLimit(JobId id, Timestamp t, std::optional<float> cpu_cores,
                          std::optional<float> memory_bytes) {
  assert(!impl_->finished && id.value < impl_->jobs.size());
  if (cpu_cores) impl_->cpu_limits.AddChange(id, t, *cpu_cores);
  if (memory_bytes) impl_->memory_limits.AddChange(id, t, *memory_bytes);
}

absl::Status JobDayStore::Finish() {
  Impl& my = *impl_;
  assert(!my.finished);
  my.finished = true;
  my.cpu_limits.Finish(my.jobs.size());
  my.memory_limits.Finish(my.jobs.size());
  for (const auto& [number, day] : my.days) my.day_list.push_back(number);
  return my.status;
}

const std::vector<JobInfo>& JobDayStore::jobs() const { return impl_->jobs; }
const FoldReport& JobDayStore::report() const { return impl_->report; }
const std::vector<int32_t>& JobDayStore::days() const { return impl_->day_list; }
int32_t JobDayStore::last_day(JobId job) const { return impl_->job_last_day[job.value]; }

absl::StatusOr<std::vector<JobDay>> JobDayStore::LoadDay(int32_t day) const {
  const Impl& my = *impl_;
  assert(my.finished);
  if (!my.status.ok()) return my.status;
  const auto it = my.days.find(day);
  if (it == my.days.end()) return std::vector<JobDay>();
  const DayBuffer& buffer = it->second;
  size_t num_rows = buffer.rows.size(), num_shares = buffer.shares.size();
  for (const SpillFile::Run& run : buffer.runs) {
    num_rows += run.rows;
    num_shares += run.shares;
  }
  DayRows rows;
  rows.rows.reserve(num_rows);
  rows.shares.reserve(num_shares);
  // Read the runs first: they are older than the rows in memory, and late_rows depends on the order of arrival.
  for (const SpillFile::Run& run : buffer.runs) {
    if (absl::Status s = my.spill.Read(run, rows); !s.ok()) return s;
  }
  buffer.rows.AppendTo(rows.rows);
  buffer.shares.AppendTo(rows.shares);
  DayBuilder builder(day, rows, my.jobs.size(), my.cpu_limits, my.memory_limits);
  std::vector<JobDay> out = builder.Build();
  if (my.counted.insert(day).second) {
    my.report.job_windows += builder.report().job_windows;
    my.report.task_windows += builder.report().task_windows;
    my.report.duplicates += builder.report().duplicates;
    my.report.shared_windows += builder.report().shared_windows;
    my.report.late_rows += builder.report().late_rows;
  }
  return out;
}

}  // namespace taut::tools
