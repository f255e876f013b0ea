// Stores samples until their window closes, and closes windows.
#include "server/ingest/live_windows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "common/base/probe.h"
#include "common/histogram/window_histogram.h"
#include "common/model/said_replicas.h"
#include "common/model/start_usage.h"
#include "server/ingest/oom_watch.h"

namespace taut::server {
namespace {

constexpr size_t kLeastGrowth = 4;  // least growth of a series' buffer, in samples

float SecondsOf(const ReportedWindow& w) {
  float sum = 0;
  for (const BucketWeight& b : w.cpu_buckets) sum += b.weight;
  return sum;
}

// Returns the mean of two parts of one window, weighted by the seconds of their CPU samples if both are
// known.
float MeanOf(float a, float a_seconds, float b, float b_seconds) {
  if (a < 0 || b < 0) return std::max(a, b);
  if (a_seconds + b_seconds <= 0) return (a + b) / 2;
  return (a * a_seconds + b * b_seconds) / (a_seconds + b_seconds);
}

void AddUp(const ReportedWindow& more, ReportedWindow& sum) {
  const float more_seconds = SecondsOf(more), sum_seconds = SecondsOf(sum);
  TaskWindow& f = sum.figures;
  f.cpu_mean_cores = MeanOf(f.cpu_mean_cores, sum_seconds, more.figures.cpu_mean_cores, more_seconds);
  f.memory_mean_bytes =
      MeanOf(f.memory_mean_bytes, sum_seconds, more.figures.memory_mean_bytes, more_seconds);
  f.cpu_peak_cores = std::max(f.cpu_peak_cores, more.figures.cpu_peak_cores);
  f.memory_peak_bytes = std::max(f.memory_peak_bytes, more.figures.memory_peak_bytes);
  // The need of the whole window is known only if the needs of both parts are known.
  const float needed = std::max(f.memory_needed_bytes, more.figures.memory_needed_bytes);
  f.memory_needed_bytes =
      f.memory_needed_bytes < 0 || more.figures.memory_needed_bytes < 0 ? kAbsent : needed;
  sum.cpu_limit_cores = more.cpu_limit_cores;
  sum.memory_limit_bytes = more.memory_limit_bytes;
  const TaskReport before = sum.report;
  sum.report = more.report;
  sum.report.cpu_steady &= before.cpu_steady && before.cpu_limit_cores == more.report.cpu_limit_cores;
  sum.report.memory_steady &=
      before.memory_steady && before.memory_limit_bytes == more.report.memory_limit_bytes;
  sum.report.cpu_periods += before.cpu_periods;
  sum.report.cpu_throttled_periods += before.cpu_throttled_periods;
  WindowHistogram both(Grid::Cpu());
  both.Merge(sum.cpu_buckets);
  both.Merge(more.cpu_buckets);
  sum.cpu_buckets.assign(both.buckets().begin(), both.buckets().end());
}

// Returns the throttled share of all tasks' CFS periods; kAbsent if none is known.
float ThrottledShare(std::span<const TaskReport> reports, std::span<const TaskThrottling> others) {
  uint64_t periods = 0, throttled = 0;
  for (const TaskReport& r : reports) {
    periods += r.cpu_periods;
    throttled += r.cpu_throttled_periods;
  }
  for (const TaskThrottling& t : others) {
    periods += t.periods;
    throttled += t.throttled;
  }
  return periods == 0 ? kAbsent
                      : static_cast<float>(static_cast<double>(throttled) / static_cast<double>(periods));
}

// Greatest accepted sample value. Windows store sums of samples as floats, which must not overflow.
constexpr double kMostOfSample = 1e30;

bool Earlier(const RemoteSample& s, int64_t time_ms) { return s.timestamp_ms < time_ms; }

}  // namespace

uint64_t IngestCounts::total() const {
  return accepted + out_of_order + stale_markers + duplicates + conflicts + nan + invalid + far_future +
         too_late + over_capacity + unmapped + facts + refused + histograms;
}

LiveWindows::LiveWindows(const Options& options, IngestCounts& counts)
    : options_(options),
      counts_(counts),
      open_from_ms_(options.first_open.start_s() * 1000),
      fold_(options.fold) {}

uint64_t IngestCounts::*LiveWindows::Refusal(const RemoteSample& sample, Timestamp now) const {
  if (sample.timestamp_ms < open_from_ms_) return &IngestCounts::too_late;
  if (IsFarFuture(sample.timestamp_ms, now)) {
    return &IngestCounts::far_future;
  }
  if (!(sample.value >= 0) || sample.value > kMostOfSample) [[unlikely]] {
    if (!std::isnan(sample.value)) return &IngestCounts::invalid;
    if (!IsStaleMarker(sample.value)) return &IngestCounts::nan;
  }
  return nullptr;
}

uint64_t IngestCounts::*LiveWindows::Refusal(WindowId window, Timestamp now) const {
  const int64_t begin_ms = window.start_s() * 1000;
  if (begin_ms < open_from_ms_) return &IngestCounts::too_late;
  return IsFarFuture(begin_ms, now) ? &IngestCounts::far_future : nullptr;
}

void LiveWindows::Add(uint32_t slot, SeriesKind kind, const RemoteSample& sample, Timestamp now) {
  if (uint64_t IngestCounts::*why = Refusal(sample, now); why != nullptr) [[unlikely]] {
    ++(counts_.*why);
    return;
  }
  if (kind == SeriesKind::kMemoryPeak) [[unlikely]] {
    const bool stale = IsStaleMarker(sample.value);
    ++(stale ? counts_.stale_markers : counts_.accepted);
    if (!stale) peaks_.See(slot, sample.value);
    return;
  }
  if (slot >= samples_.size()) samples_.resize(slot + 1);
  if (kind == SeriesKind::kOomTotal) ooms_.See(slot, samples_[slot], sample);
  Insert(slot, sample);
}

void LiveWindows::Insert(uint32_t slot, const RemoteSample& sample) {
  std::vector<RemoteSample>& samples = samples_[slot];
  const bool stale = IsStaleMarker(sample.value);
  const bool last = samples.empty() || samples.back().timestamp_ms < sample.timestamp_ms;
  const auto at =
      last ? samples.end() : std::lower_bound(samples.begin(), samples.end(), sample.timestamp_ms, Earlier);
  if (!last && at->timestamp_ms == sample.timestamp_ms) {
    const bool was_stale = IsStaleMarker(at->value);
    if (stale == was_stale && (stale || at->value == sample.value)) {
      ++counts_.duplicates;
      return;
    }
    ++counts_.conflicts;  // a number takes precedence over a stale marker
    if (!stale && (was_stale || sample.value > at->value)) at->value = sample.value;
    return;
  }
  if (samples.size() >= options_.max_samples_per_series) {
    TAUT_PROBE("too many samples of a series in the open windows");
    ++counts_.over_capacity;
    return;
  }
  const auto place = at - samples.begin();
  // Grows by a quarter: with millions of series, doubling would waste much memory.
  if (samples.size() == samples.capacity())
    samples.reserve(samples.size() + std::max(kLeastGrowth, samples.size() / 4));
  samples.insert(samples.begin() + place, sample);
  ++waiting_samples_;
  newest_of_series_ms_ = std::max(newest_of_series_ms_, sample.timestamp_ms);
  newest_ms_ = std::max(newest_ms_, sample.timestamp_ms);
  ++(stale ? counts_.stale_markers : last ? counts_.accepted : counts_.out_of_order);
}

bool LiveWindows::AddWindow(uint32_t slot, ReportedWindow window, Timestamp now) {
  if (uint64_t IngestCounts::*why = Refusal(window.window, now); why != nullptr) {
    ++(counts_.*why);
    return false;
  }
  const int64_t begin_ms = window.window.start_s() * 1000;
  peaks_.See(slot, double{window.memory_kernel_peak_bytes});
  if (slot >= reported_.size()) reported_.resize(slot + 1);
  std::vector<ReportedWindow>& windows = reported_[slot];
  const auto at = std::lower_bound(windows.begin(), windows.end(), window.window,
                                   [](const ReportedWindow& w, WindowId id) { return w.window < id; });
  newest_ms_ = std::max(newest_ms_, begin_ms + kWindowMs - 1);
  if (at != windows.end() && at->window == window.window) {
    TAUT_PROBE("two parts of an agent's window of one task");
    AddUp(window, *at);
    ++counts_.accepted;
    return true;
  }
  ++(at == windows.end() ? counts_.accepted : counts_.out_of_order);
  windows.insert(at, std::move(window));
  return true;
}

const ReportedWindow* LiveWindows::Reported(uint32_t slot, WindowId window) const {
  if (slot >= reported_.size()) return nullptr;
  for (const ReportedWindow& w : reported_[slot]) {
    if (w.window == window) return &w;
  }
  return nullptr;
}

std::vector<LiveWindows::TaskLimitsOfJob> LiveWindows::MemoryLimits(std::span<const JobId> jobs,
                                                                    const SeriesMapper& mapper) const {
  // The limits of each job. Key: task and part.
  std::vector<std::map<std::pair<uint32_t, uint32_t>, double>> parts(jobs.size());
  absl::flat_hash_map<uint32_t, size_t> numbers;
  for (size_t i = 0; i < jobs.size(); ++i) numbers.emplace(jobs[i].value, i);
  for (uint32_t slot = 0; slot < samples_.size(); ++slot) {
    const SeriesBinding& binding = mapper.binding(slot);
    const bool is_limit = binding.kind == SeriesKind::kMemoryLimitBytes;
    const bool has_part =
        is_limit || binding.kind == SeriesKind::kRestartsTotal || binding.kind == SeriesKind::kMemoryBytes;
    if (!has_part || !binding.in_use || binding.left_out) continue;
    if (samples_[slot].empty() || IsStaleMarker(samples_[slot].back().value)) continue;
    const auto asked = numbers.find(binding.job.value);
    if (asked == numbers.end()) continue;
    // The limit of a part is the highest limit of its series.
    double& limit = parts[asked->second][{binding.task, binding.part}];
    if (is_limit) limit = std::max(limit, samples_[slot].back().value * binding.scale);
  }
  std::vector<TaskLimitsOfJob> out(jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    for (auto part = parts[i].begin(); part != parts[i].end();) {
      const uint32_t task = part->first.first;
      double sum = 0;
      bool has_all = true;
      for (; part != parts[i].end() && part->first.first == task; ++part) {
        has_all = has_all && part->second > 0;
        sum += part->second;
      }
      if (has_all) out[i].emplace_back(task, sum);
    }
  }
  return out;
}

void LiveWindows::SortSlots(const SeriesMapper& mapper) {
  if (order_version_ == mapper.version()) return;
  order_version_ = mapper.version();
  order_.clear();
  for (uint32_t slot = 0; slot < mapper.num_slots(); ++slot) {
    const SeriesBinding& binding = mapper.binding(slot);
    const bool told_apart = binding.kind == SeriesKind::kOomTotal ||
                            binding.kind == SeriesKind::kMemoryPeak || OomWatch::IsFor(binding.kind);
    if (binding.in_use && !binding.left_out && !told_apart) order_.push_back(slot);
  }
  // WindowFold requires that the series of a task's part are adjacent. The slot makes the order, and
  // therefore sums of floats, repeatable.
  std::sort(order_.begin(), order_.end(), [&mapper](uint32_t a, uint32_t b) {
    const SeriesBinding &x = mapper.binding(a), &y = mapper.binding(b);
    return std::tie(x.job, x.task, x.part, x.kind, a) < std::tie(y.job, y.task, y.part, y.kind, b);
  });
}

int64_t LiveWindows::EarliestOpenSample() const {
  int64_t earliest = INT64_MAX;
  for (const std::vector<RemoteSample>& samples : samples_) {
    // Two samples are enough, because at most one sample is before the open windows (Trim).
    for (size_t i = 0; i < std::min<size_t>(samples.size(), 2); ++i) {
      if (samples[i].timestamp_ms >= open_from_ms_) earliest = std::min(earliest, samples[i].timestamp_ms);
    }
  }
  for (const std::vector<ReportedWindow>& windows : reported_) {
    if (!windows.empty()) earliest = std::min(earliest, windows.front().window.start_s() * 1000);
  }
  return earliest;
}

void LiveWindows::CloseUntil(Timestamp watermark, const SeriesMapper& mapper,
                             absl::FunctionRef<void(ClosedWindow&&)> yield) {
  const int64_t until = FloorDiv(MillisOf(watermark) - options_.grace_seconds * 1000, kWindowMs) * kWindowMs;
  if (until <= open_from_ms_) return;
  SortSlots(mapper);
  for (;;) {
    const int64_t earliest = EarliestOpenSample();
    if (earliest >= until) break;
    const int64_t begin = FloorDiv(earliest, kWindowMs) * kWindowMs;
    ClosedWindow closed = Fold(begin, mapper);
    open_from_ms_ = begin + kWindowMs;
    Trim(open_from_ms_);
    if (closed.jobs.empty()) continue;
    ++fold_counts_.windows;
    jobs_before_ = closed.jobs.size();
    tasks_before_ = closed.tasks.size();
    fold_counts_.job_windows += jobs_before_;
    fold_counts_.task_windows += tasks_before_;
    yield(std::move(closed));
  }
  // Without this bound, a clock ahead of all samples would close windows that have not begun; the samples of
  // these windows would then arrive too late.
  if (newest_ms_ != INT64_MIN) {
    const int64_t begun = (FloorDiv(newest_ms_, kWindowMs) + 1) * kWindowMs;
    open_from_ms_ = std::max(open_from_ms_, std::min(until, begun));
  }
}

void LiveWindows::AddReported(uint32_t task, const ReportedWindow& reported,
                              std::span<const FoldSeries> series, ClosedWindow& closed) {
  fold_.AddReported(reported, series);
  TaskWindow out = reported.figures;
  TaskReport report = reported.report;
  out.task = report.task = task;
  if (std::optional<TaskStart> start = fold_.start(); start.has_value()) {
    start->task = task;
    closed.starts.push_back(*start);
    out.cpu_mean_cores = out.cpu_peak_cores = kAbsent;
    // The limit and the periods belong to the start and not to the job's steady tasks.
    report.cpu_steady = false;
    report.cpu_limit_cores = kAbsent;
    report.cpu_periods = report.cpu_throttled_periods = 0;
  }
  closed.reports.push_back(report);
  if (out.cpu_mean_cores >= 0 || out.memory_mean_bytes >= 0) closed.tasks.push_back(out);
}

void LiveWindows::AddMeasured(uint32_t task, std::span<const FoldSeries> series, ClosedWindow& closed) {
  TaskWindow out;
  const bool measured = fold_.AddTask(task, series, out);
  if (measured) closed.tasks.push_back(out);
  if (measured && options_.on_task_cpu) {
    std::vector<BucketWeight> cpu;
    fold_.TakeCpuBuckets(cpu);
    options_.on_task_cpu(task, cpu);
  }
  if (fold_.start().has_value()) {
    closed.starts.push_back(*fold_.start());  // the periods belong to the start's limit
  } else if (measured) {
    const TaskThrottling throttling = fold_.ThrottlingOf(task, series);
    if (throttling.periods > 0) closed.throttling.push_back(throttling);
  }
}

size_t LiveWindows::FoldTask(size_t at, bool partial, const SeriesMapper& mapper, ClosedWindow& closed) {
  const int64_t begin_ms = closed.window.start_s() * 1000;
  const uint32_t entry = mapper.binding(order_[at]).task_entry;
  const uint32_t task = mapper.binding(order_[at]).task;
  const ReportedWindow* reported = nullptr;
  series_.clear();
  for (; at < order_.size() && mapper.binding(order_[at]).task_entry == entry; ++at) {
    const uint32_t slot = order_[at];
    const SeriesBinding& binding = mapper.binding(slot);
    if (binding.kind == SeriesKind::kTaskWindow) {
      reported = Reported(slot, closed.window);
    } else if (slot < samples_.size() && partial) {
      left_out_ |= !samples_[slot].empty() && samples_[slot].back().timestamp_ms >= begin_ms;
    } else if (slot < samples_.size()) {
      std::vector<FoldSeries>& of_its_use = binding.signal != 0    ? signals_
                                            : IsLoad(binding.kind) ? loads_
                                                                   : series_;
      of_its_use.push_back({&binding, samples_[slot]});
    }
  }
  if (reported != nullptr) {
    AddReported(task, *reported, series_, closed);
  } else {
    AddMeasured(task, series_, closed);
  }
  return at;
}

size_t LiveWindows::FoldJob(size_t at, bool partial, const SeriesMapper& mapper, ClosedWindow& closed) {
  const JobId job = mapper.binding(order_[at]).job;
  const int64_t begin_ms = closed.window.start_s() * 1000;
  JobWindowData data{job,
                     {.window = closed.window,
                      .first_task = static_cast<uint32_t>(closed.tasks.size()),
                      .first_bucket = static_cast<uint32_t>(closed.cpu_buckets.size()),
                      .first_signal = static_cast<uint32_t>(closed.signals.size())},
                     static_cast<uint32_t>(closed.reports.size())};
  data.first_throttling = static_cast<uint32_t>(closed.throttling.size());
  data.first_start = static_cast<uint32_t>(closed.starts.size());
  fold_.StartJob(begin_ms, begin_ms + kWindowMs, StartupMs(job));
  loads_.clear();
  signals_.clear();
  while (at < order_.size() && mapper.binding(order_[at]).job == job)
    at = FoldTask(at, partial, mapper, closed);
  JobWindow& window = data.window;
  fold_.TakeCpuBuckets(closed.cpu_buckets);
  window.load = fold_.LoadOf(loads_);
  fold_.AddSignals(signals_, mapper, closed.signals);
  const auto starts = std::span(closed.starts).subspan(data.first_start);
  if (!starts.empty()) PutStarts(SumStarts(starts), window.first_signal, closed.signals);
  window.num_signals = static_cast<uint32_t>(closed.signals.size()) - window.first_signal;
  window.num_tasks = static_cast<uint32_t>(closed.tasks.size()) - window.first_task;
  window.num_buckets = static_cast<uint32_t>(closed.cpu_buckets.size()) - window.first_bucket;
  window.cpu_limit_cores = fold_.cpu_limit_cores();
  window.memory_limit_bytes = fold_.memory_limit_bytes();
  data.num_reports = static_cast<uint32_t>(closed.reports.size()) - data.first_report;
  data.num_throttling = static_cast<uint32_t>(closed.throttling.size()) - data.first_throttling;
  data.num_starts = static_cast<uint32_t>(starts.size());
  data.requests = fold_.requests();
  window.cpu_throttled = ThrottledShare(std::span(closed.reports).subspan(data.first_report),
                                        std::span(closed.throttling).subspan(data.first_throttling));
  // A load without tasks is stored: the job may be scaled to zero, and the load decides when the job starts.
  if (window.num_tasks == 0 && !(window.load >= 0) && window.num_signals == 0) return at;
  const ReplicaCounts& said = mapper.replica_counts();
  if (!said.empty()) data.replicas = said.Of(mapper.jobs().name(job), closed.window);
  // Agents' measurements take precedence over reported counts. A count that equals the number of measured
  // tasks is not stored.
  const SaidReplicas& its = data.replicas;
  if (data.num_reports == 0 && (its.count != static_cast<int>(window.num_tasks) || its.ready != its.count))
    window.num_signals += PutSaid(its, window.first_signal, closed.signals);
  closed.jobs.push_back(std::move(data));
  return at;
}

ClosedWindow LiveWindows::Fold(int64_t begin_ms, const SeriesMapper& mapper) {
  ClosedWindow closed;
  closed.window = {static_cast<int32_t>(begin_ms / kWindowMs)};
  // Most windows have about as many jobs and tasks as the previous window.
  closed.jobs.reserve(jobs_before_);
  closed.tasks.reserve(tasks_before_);
  const bool partial = IsPartial(begin_ms);
  left_out_ = false;
  for (size_t i = 0; i < order_.size();) i = FoldJob(i, partial, mapper, closed);
  fold_counts_.events = fold_.events();
  if (left_out_) ++fold_counts_.partial_windows;
  return closed;
}

void LiveWindows::StartAt(WindowId first_open) {
  open_from_ms_ = first_open.start_s() * 1000;
  Trim(open_from_ms_);
}

void LiveWindows::GoBack(Timestamp newest, WindowId first_open) {
  newest_ms_ = newest_of_series_ms_ = MillisOf(newest);
  open_from_ms_ = first_open.start_s() * 1000;
  const int64_t last_ms = newest_ms_ + options_.max_future_seconds * 1000;
  for (std::vector<RemoteSample>& samples : samples_) {
    waiting_samples_ -=
        std::erase_if(samples, [&](const RemoteSample& s) { return s.timestamp_ms > last_ms; });
  }
  for (std::vector<ReportedWindow>& windows : reported_) {
    std::erase_if(windows, [&](const ReportedWindow& w) { return w.window.start_s() * 1000 > last_ms; });
  }
}

bool LiveWindows::IsPartial(int64_t begin_ms) const {
  const int64_t from = std::max(begin_ms, unheard_.begin_ms);
  const int64_t to = std::min(begin_ms + kWindowMs, unheard_.end_ms);
  if (to - from <= kWindowMs / 2) return false;
  return std::ranges::none_of(samples_, [&](const std::vector<RemoteSample>& samples) {
    const auto first = std::upper_bound(samples.begin(), samples.end(), from,
                                        [](int64_t t, const RemoteSample& s) { return t < s.timestamp_ms; });
    return first != samples.end() && first->timestamp_ms < to;
  });
}

// Keeps, for each series, one sample before the open windows: the base of a counter's next rate.
void LiveWindows::Trim(int64_t end_ms) {
  for (std::vector<RemoteSample>& samples : samples_) {
    const auto open = std::lower_bound(samples.begin(), samples.end(), end_ms, Earlier);
    if (open - samples.begin() > 1) {
      waiting_samples_ -= static_cast<uint64_t>(open - 1 - samples.begin());
      samples.erase(samples.begin(), open - 1);
    }
  }
  for (std::vector<ReportedWindow>& windows : reported_) {
    std::erase_if(windows, [end_ms](const ReportedWindow& w) { return w.window.start_s() * 1000 < end_ms; });
  }
}

void LiveWindows::Drop(std::span<const uint32_t> slots) {
  peaks_.Drop(slots);
  for (const uint32_t slot : slots) {
    if (slot < samples_.size()) {
      waiting_samples_ -= samples_[slot].size();
      std::vector<RemoteSample>().swap(samples_[slot]);
    }
    if (slot < reported_.size()) std::vector<ReportedWindow>().swap(reported_[slot]);
  }
  ooms_.Drop(slots, open_from_ms_);
}

size_t LiveWindows::state_bytes() const {
  size_t bytes =
      sizeof(*this) + samples_.capacity() * sizeof(samples_[0]) + order_.capacity() * sizeof(uint32_t);
  for (const std::vector<RemoteSample>& samples : samples_)
    bytes += samples.capacity() * sizeof(RemoteSample);
  bytes += reported_.capacity() * sizeof(reported_[0]) + peaks_.state_bytes();
  for (const std::vector<ReportedWindow>& windows : reported_) {
    bytes += windows.capacity() * sizeof(ReportedWindow);
    for (const ReportedWindow& w : windows) bytes += w.cpu_buckets.capacity() * sizeof(BucketWeight);
  }
  return bytes;
}

}  // namespace taut::server
