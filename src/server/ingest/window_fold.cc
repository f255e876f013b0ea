// Converts series to steps in time, and adds the steps up in one sweep.
#include "server/ingest/window_fold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/base/no_limit.h"

namespace taut::server {
namespace {

// Factor above max_cores up to which a rate is possible for a large task, and is reduced to max_cores. A higher
// rate is an error and is dropped.
constexpr double kOfLargeTask = 4;

constexpr double kNothing = -std::numeric_limits<double>::infinity();

// Returns true for limits and requests of the owner.
bool IsAmount(SeriesKind kind) {
  return kind == SeriesKind::kCpuLimitCores || kind == SeriesKind::kMemoryLimitBytes ||
         kind == SeriesKind::kCpuRequestCores || kind == SeriesKind::kMemoryRequestBytes;
}

}  // namespace

bool WindowFold::IsOf(SeriesKind kind, Measure measure) {
  switch (measure) {
    case Measure::kCpu:
      return kind == SeriesKind::kCpuSecondsTotal || kind == SeriesKind::kCpuCores;
    case Measure::kMemory:
      return kind == SeriesKind::kMemoryBytes;
    case Measure::kLoad:
      break;
  }
  return IsLoad(kind);
}

void WindowFold::StartJob(int64_t begin_ms, int64_t end_ms, int64_t startup_ms) {
  begin_ms_ = begin_ms;
  end_ms_ = end_ms;
  startup_ms_ = startup_ms;
  cpu_limit_ = memory_limit_ = kAbsent;
  requests_ = {};
}

bool WindowFold::AddTask(uint32_t task, std::span<const FoldSeries> series, TaskWindow& out) {
  out = {.task = task};
  start_.reset();
  for (const Measure measure : {Measure::kCpu, Measure::kMemory}) {
    const bool cpu = measure == Measure::kCpu;
    if (!AddSteps(series, measure)) continue;
    if (cpu && startup_ms_ > 0) FindYoung(series);
    const Sum sum = Sweep(series, measure);
    if (cpu && !young_.empty()) NoteStart(task, sum);
    if (sum.covered_ms > 0) {
      (cpu ? out.cpu_mean_cores : out.memory_mean_bytes) =
          static_cast<float>(sum.integral / static_cast<double>(sum.covered_ms));
      (cpu ? out.cpu_peak_cores : out.memory_peak_bytes) = static_cast<float>(sum.peak);
    }
    if (sum.covered_ms > 0 || (cpu && start_.has_value())) AddAmounts(series, measure);
  }
  return out.cpu_mean_cores >= 0 || out.memory_mean_bytes >= 0;
}

void WindowFold::FindYoung(std::span<const FoldSeries> series) {
  // A mean over a shorter part of the window does not represent the window.
  constexpr int64_t kLeastRestMs = 60'000;
  FindStartSpans(series, startup_ms_, begin_ms_, end_ms_, young_);
  if (young_.empty()) return;
  // A rate that overlaps a start includes usage of the start, so its whole step is kept apart.
  for (size_t i = 0; i + 1 < steps_.size(); i += 2) {
    for (StartSpan& span : young_) {
      if (steps_[i].time_ms >= span.end_ms || steps_[i + 1].time_ms <= span.begin_ms) continue;
      span.begin_ms = std::min(span.begin_ms, steps_[i].time_ms);
      span.end_ms = std::max(span.end_ms, steps_[i + 1].time_ms);
    }
  }
  CloseGaps(begin_ms_, end_ms_, kLeastRestMs, young_);
}

void WindowFold::NoteStart(uint32_t task, const Sum& rest) {
  young_.clear();
  const Sum young = std::exchange(young_sum_, {});
  if (young.covered_ms == 0) return;
  const auto mean = [](double integral, int64_t ms) {
    return ms == 0 ? 0 : integral / static_cast<double>(ms);
  };
  const double all = mean(young.integral + rest.integral, young.covered_ms + rest.covered_ms);
  const double more = all - mean(rest.integral, rest.covered_ms);
  start_ = TaskStart{.task = task,
                     .peak_cores = static_cast<float>(young.peak),
                     .more_cores = static_cast<float>(std::max(0.0, more)),
                     .is_all = rest.covered_ms == 0};
}

void WindowFold::AddAmounts(std::span<const FoldSeries> series, Measure measure) {
  const bool cpu = measure == Measure::kCpu;
  float& limit = cpu ? cpu_limit_ : memory_limit_;
  limit =
      std::max(limit, TaskLimit(series, cpu ? SeriesKind::kCpuLimitCores : SeriesKind::kMemoryLimitBytes));
  float& request = cpu ? requests_.cpu_cores : requests_.memory_bytes;
  request = std::max(request,
                     TaskLimit(series, cpu ? SeriesKind::kCpuRequestCores : SeriesKind::kMemoryRequestBytes));
}

double WindowFold::CountOf(const FoldSeries& s) {
  double count = 0;
  for (size_t i = 1; i < s.samples.size(); ++i) {
    const RemoteSample& from = s.samples[i - 1];
    const RemoteSample& to = s.samples[i];
    if (from.timestamp_ms >= end_ms_) break;
    const int64_t ms = to.timestamp_ms - from.timestamp_ms;
    if (to.timestamp_ms <= begin_ms_ || IsStaleMarker(from.value) || IsStaleMarker(to.value)) continue;
    if (ms > options_.max_gap_ms) continue;
    // The increase is spread evenly over the interval; only the share inside the window is added.
    const int64_t inside = std::min(to.timestamp_ms, end_ms_) - std::max(from.timestamp_ms, begin_ms_);
    count += Increase(from, to) * std::abs(s.binding->scale) * static_cast<double>(inside) /
             static_cast<double>(ms);
  }
  return count;
}

TaskThrottling WindowFold::ThrottlingOf(uint32_t task, std::span<const FoldSeries> series) {
  // The kernel's shortest period is a millisecond; more periods are impossible.
  const double most = static_cast<double>(end_ms_ - begin_ms_) * static_cast<double>(series.size());
  double periods = 0, throttled = 0;
  for (size_t i = 0; i < series.size();) {
    const uint32_t part = series[i].binding->part;
    double of_part = 0, throttled_of_part = 0;
    for (; i < series.size() && series[i].binding->part == part; ++i) {
      if (!IsThrottling(series[i].binding->kind)) continue;
      double& count = series[i].binding->kind == SeriesKind::kCpuPeriodsTotal ? of_part : throttled_of_part;
      count = std::max(count, CountOf(series[i]));
    }
    periods += of_part;
    // The series of periods and of throttled periods may have different gaps; a throttled share above 1 is
    // impossible.
    throttled += std::min(throttled_of_part, of_part);
  }
  if (!(periods <= most)) {
    ++events_.implausible_rates;
    return {.task = task};
  }
  const auto whole = static_cast<uint32_t>(std::llround(periods));
  return {task, whole, std::min(whole, static_cast<uint32_t>(std::llround(throttled)))};
}

float WindowFold::LoadOf(std::span<const FoldSeries> series) {
  if (!AddSteps(series, Measure::kLoad)) return kAbsent;
  const Sum sum = Sweep(series, Measure::kLoad);
  return sum.covered_ms == 0 ? kAbsent
                             : static_cast<float>(sum.integral / static_cast<double>(sum.covered_ms));
}

void WindowFold::AddSignals(std::span<FoldSeries> series, const SeriesMapper& mapper,
                            std::vector<NamedSignal>& out) {
  const auto number = [](const FoldSeries& s) { return s.binding->signal; };
  std::ranges::stable_sort(series, {}, number);
  while (!series.empty()) {
    const uint16_t signal = number(series.front());
    const auto size =
        static_cast<size_t>(std::ranges::upper_bound(series, signal, {}, number) - series.begin());
    const float value = LoadOf(series.first(size));
    if (value >= 0) out.push_back({mapper.rules().signals()[signal - 1U], value});
    series = series.subspan(size);
  }
}

bool WindowFold::AddSteps(std::span<const FoldSeries> series, Measure measure) {
  steps_.clear();
  used_parts_.clear();
  needs_all_ = false;
  constexpr double kMostLoad = 1e12;
  for (uint32_t i = 0; i < series.size(); ++i) {
    const SeriesBinding& binding = *series[i].binding;
    if (!IsOf(binding.kind, measure)) continue;
    const size_t before = steps_.size();
    if (binding.kind == SeriesKind::kCpuSecondsTotal || binding.kind == SeriesKind::kLoadTotal) {
      AddCounterSteps(i, series[i], measure == Measure::kCpu ? options_.max_cores : kMostLoad);
    } else {
      AddGaugeSteps(i, series[i]);
    }
    if (steps_.size() > before) used_parts_.push_back(binding.part);
    needs_all_ |= binding.scale < 0;
  }
  return !steps_.empty();
}

void WindowFold::AddStep(uint32_t index, int64_t begin_ms, int64_t end_ms, double value) {
  begin_ms = std::max(begin_ms, begin_ms_);
  end_ms = std::min(end_ms, end_ms_);
  if (begin_ms >= end_ms) return;
  // If the next step begins where this step ends, the sweep processes the end first.
  steps_.push_back({begin_ms, index, value});
  steps_.push_back({end_ms, index, kNothing});
}

double WindowFold::Increase(const RemoteSample& from, const RemoteSample& to) {
  if (to.value >= from.value) return to.value - from.value;
  // Each increase belongs to one window only.
  const bool here = to.timestamp_ms >= begin_ms_ && to.timestamp_ms < end_ms_;
  if (to.value >= from.value * (1 - options_.jitter_share)) {
    events_.counter_jitter += here ? 1 : 0;
    return 0;
  }
  events_.counter_resets += here ? 1 : 0;
  return to.value;
}

void WindowFold::AddCounterSteps(uint32_t index, const FoldSeries& s, double most) {
  for (size_t i = 1; i < s.samples.size(); ++i) {
    const RemoteSample& from = s.samples[i - 1];
    const RemoteSample& to = s.samples[i];
    if (from.timestamp_ms >= end_ms_) break;
    if (to.timestamp_ms <= begin_ms_ || IsStaleMarker(from.value) || IsStaleMarker(to.value)) continue;
    const bool here = to.timestamp_ms >= begin_ms_ && to.timestamp_ms < end_ms_;
    const int64_t ms = to.timestamp_ms - from.timestamp_ms;
    if (ms > options_.max_gap_ms) {
      events_.gaps += here ? 1 : 0;
      continue;
    }
    const double rate = Increase(from, to) * std::abs(s.binding->scale) / (static_cast<double>(ms) / 1000);
    if (rate > most) {
      events_.implausible_rates += here ? 1 : 0;
      if (rate > kOfLargeTask * most) continue;
    }
    AddStep(index, from.timestamp_ms, to.timestamp_ms, std::min(rate, most));
  }
}

void WindowFold::AddGaugeSteps(uint32_t index, const FoldSeries& s) {
  for (size_t i = 0; i < s.samples.size(); ++i) {
    const RemoteSample& sample = s.samples[i];
    if (sample.timestamp_ms >= end_ms_) break;
    if (sample.timestamp_ms < begin_ms_ || IsStaleMarker(sample.value)) continue;
    const int64_t since =
        i > 0 ? sample.timestamp_ms - s.samples[i - 1].timestamp_ms : options_.max_gap_ms + 1;
    const int64_t interval = since <= options_.max_gap_ms ? since : options_.default_interval_ms;
    int64_t end = sample.timestamp_ms + std::max<int64_t>(interval / 2, 1);
    if (i + 1 < s.samples.size() &&
        s.samples[i + 1].timestamp_ms - sample.timestamp_ms <= options_.max_gap_ms) {
      end = s.samples[i + 1].timestamp_ms;
    }
    AddStep(index, sample.timestamp_ms, end, sample.value * std::abs(s.binding->scale));
  }
}

double WindowFold::SumOfParts(std::span<const FoldSeries> series, Measure measure) const {
  double sum = 0;
  bool any = false, all = true;
  for (size_t i = 0; i < series.size();) {
    const uint32_t part = series[i].binding->part, task = series[i].binding->task;
    double largest = kNothing;
    bool expected = false, subtracted = false;
    for (; i < series.size() && series[i].binding->part == part && series[i].binding->task == task; ++i) {
      if (!IsOf(series[i].binding->kind, measure)) continue;
      largest = std::max(largest, current_[i]);
      expected = true;
      subtracted |= series[i].binding->scale < 0;
    }
    if (largest == kNothing) {
      all &= !expected;
      continue;
    }
    any = true;
    sum += subtracted ? -largest : largest;
  }
  if (!any || (needs_all_ && !all)) return -1;
  return sum;
}

void WindowFold::AddPiece(int64_t begin_ms, int64_t end_ms, double value, Measure measure, Sum& sum) {
  if (young_.empty()) [[likely]]
    return AddMeasured(end_ms - begin_ms, value, measure, sum);
  for (const StartSpan& span : young_) {
    if (span.end_ms <= begin_ms) continue;
    if (span.begin_ms >= end_ms) break;
    const int64_t from = std::max(begin_ms, span.begin_ms), to = std::min(end_ms, span.end_ms);
    if (begin_ms < from) AddMeasured(from - begin_ms, value, measure, sum);
    young_sum_.integral += value * static_cast<double>(to - from);
    young_sum_.covered_ms += to - from;
    young_sum_.peak = std::max(young_sum_.peak, value);
    begin_ms = to;
  }
  if (begin_ms < end_ms) AddMeasured(end_ms - begin_ms, value, measure, sum);
}

void WindowFold::AddMeasured(int64_t ms, double value, Measure measure, Sum& sum) {
  sum.integral += value * static_cast<double>(ms);
  sum.covered_ms += ms;
  sum.peak = std::max(sum.peak, value);
  if (measure != Measure::kCpu) return;
  const Bucket bucket = Grid::Cpu().BucketOf(value);
  cpu_ms_[bucket] += ms;
  lowest_ = std::min(lowest_, bucket);
  highest_ = std::max(highest_, bucket);
}

WindowFold::Sum WindowFold::Sweep(std::span<const FoldSeries> series, Measure measure) {
  Sum sum;
  // If there is only one series, its steps do not overlap and need no sort. Most tasks have only one series.
  if (used_parts_.size() == 1 && !needs_all_) {
    for (size_t i = 0; i < steps_.size(); i += 2) {
      AddPiece(steps_[i].time_ms, steps_[i + 1].time_ms, steps_[i].value, measure, sum);
    }
    return sum;
  }
  std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
    if (a.time_ms != b.time_ms) return a.time_ms < b.time_ms;
    return a.value < b.value;  // ends precede beginnings
  });
  current_.assign(series.size(), kNothing);
  for (size_t i = 0; i < steps_.size();) {
    const int64_t now = steps_[i].time_ms;
    for (; i < steps_.size() && steps_[i].time_ms == now; ++i) current_[steps_[i].series] = steps_[i].value;
    const double value = SumOfParts(series, measure);
    if (value >= 0 && i < steps_.size()) AddPiece(now, steps_[i].time_ms, value, measure, sum);
  }
  return sum;
}

float WindowFold::TaskLimit(std::span<const FoldSeries> series, SeriesKind kind) const {
  double sum = 0;
  for (size_t u = 0; u < used_parts_.size(); ++u) {
    if (u > 0 && used_parts_[u] == used_parts_[u - 1]) continue;
    double limit = 0;
    for (const FoldSeries& s : series) {
      if (s.binding->kind != kind || s.binding->part != used_parts_[u]) continue;
      // Uses the last value before the window's end.
      const auto after =
          std::partition_point(s.samples.begin(), s.samples.end(),
                               [this](const RemoteSample& x) { return x.timestamp_ms < end_ms_; });
      if (after == s.samples.begin() || IsStaleMarker((after - 1)->value)) continue;
      const double said = (after - 1)->value * s.binding->scale;
      if (said < kNoLimitBytes) limit = std::max(limit, said);
    }
    if (limit <= 0) return kAbsent;
    sum += limit;
  }
  return used_parts_.empty() ? kAbsent : static_cast<float>(sum);
}

void WindowFold::AddReported(const ReportedWindow& window, std::span<const FoldSeries> series) {
  start_.reset();
  if (startup_ms_ > 0) FindStartSpans(series, startup_ms_, begin_ms_, end_ms_, young_);
  const TaskWindow& figures = window.figures;
  const bool is_young = !young_.empty();
  young_.clear();
  if (is_young && figures.cpu_mean_cores >= 0) {
    start_ = TaskStart{.peak_cores = std::max(figures.cpu_peak_cores, figures.cpu_mean_cores),
                       .more_cores = figures.cpu_mean_cores};
  }
  for (const BucketWeight& b : window.cpu_buckets) {
    if (is_young) break;
    cpu_ms_[b.bucket] += std::llround(double{b.weight} * 1000);
    lowest_ = std::min(lowest_, b.bucket);
    highest_ = std::max(highest_, b.bucket);
  }
  cpu_limit_ = std::max(cpu_limit_, window.cpu_limit_cores);
  memory_limit_ = std::max(memory_limit_, window.memory_limit_bytes);
  used_parts_.clear();
  for (const FoldSeries& s : series) {
    const bool known = std::ranges::find(used_parts_, s.binding->part) != used_parts_.end();
    if (IsAmount(s.binding->kind) && !known) used_parts_.push_back(s.binding->part);
  }
  if (window.cpu_limit_cores == kAbsent) AddAmounts(series, Measure::kCpu);
  if (window.memory_limit_bytes == kAbsent) AddAmounts(series, Measure::kMemory);
}

void WindowFold::TakeCpuBuckets(std::vector<BucketWeight>& out) {
  for (int b = lowest_; b <= highest_; ++b) {
    if (cpu_ms_[b] == 0) continue;
    out.push_back({static_cast<Bucket>(b), static_cast<float>(static_cast<double>(cpu_ms_[b]) / 1000)});
    cpu_ms_[b] = 0;
  }
  lowest_ = Grid::kMaxBuckets;
  highest_ = 0;
}

}  // namespace taut::server
