#include "node/agent/task_meter.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace taut::node {
namespace {

// A larger difference between node time and steady time, from one reading to the next, counts as a jump.
constexpr int64_t kMaxDriftUs = 2 * kMicrosPerSecond;

void Bump(std::optional<uint64_t>& count, uint64_t by) { count = count.value_or(0) + by; }

}  // namespace

double TaskMeter::NodeSeconds(const Mark& from, const Mark& to) const {
  return static_cast<double>(to.steady_us - from.steady_us) * options_.speed / kMicrosPerSecond;
}

bool TaskMeter::TooLong(const Mark& from, const Mark& to) const {
  return to.steady_us - from.steady_us > options_.max_gap_us;
}

bool TaskMeter::Jumped(const Mark& from, const Mark& to) const {
  const double node_s = static_cast<double>(to.at.us - from.at.us) / kMicrosPerSecond;
  return std::abs(node_s - NodeSeconds(from, to)) > options_.speed * kMaxDriftUs / kMicrosPerSecond;
}

template <typename Fn>
void TaskMeter::ForEachWindow(const Mark& from, const Mark& to, Fn&& fn) const {
  const WindowId last = WindowId::Of(to.at);
  if (to.at <= from.at || Jumped(from, to)) {
    fn(last, 1.0);
    return;
  }
  const auto length = static_cast<double>(to.at.us - from.at.us);
  for (WindowId w = WindowId::Of(from.at); w <= last; w = w.next()) {
    const int64_t start_us = std::max(from.at.us, w.start_s() * kMicrosPerSecond);
    const int64_t end_us = std::min(to.at.us, EndOf(w).us);
    if (end_us > start_us) fn(w, static_cast<double>(end_us - start_us) / length);
  }
}

TaskMeter::Open& TaskMeter::OpenAt(WindowId window) {
  auto it = open_.end();
  // Search from the end, because the wanted window is almost always the newest.
  while (it != open_.begin() && (it - 1)->window >= window) --it;
  if (it == open_.end() || it->window != window) it = open_.insert(it, Open(window));
  return *it;
}

void TaskMeter::AddMemory(const Mark& now) {
  ForEachWindow(*last_, now, [&](WindowId window, double share) {
    if (window < first_) return;
    Open& open = OpenAt(window);
    const double seconds = NodeSeconds(*last_, now) * share;
    open.memory_s += seconds;
    open.memory_byte_s += seconds * *memory_;
    open.memory_peak_bytes = std::max(open.memory_peak_bytes, static_cast<float>(*memory_));
  });
}

bool TaskMeter::AddCpu(const TaskReading& reading, const Mark& now) {
  cores_.reset();
  if (!reading.cpu_usage_us) return false;
  const uint64_t usage_us = *reading.cpu_usage_us;
  const std::optional<Counter> before = std::exchange(usage_, Counter{usage_us, now});
  if (!before) return false;
  const bool fell = usage_us < before->value;
  if (TooLong(before->mark, now)) return fell;
  // After a reset the counter's value is the whole usage since the reset.
  const auto used_us = static_cast<double>(fell ? usage_us : usage_us - before->value);
  const double cores = used_us / static_cast<double>(now.steady_us - before->mark.steady_us);
  if (cores > options_.max_cores) {
    ++counts_.implausible;
    return fell;
  }
  cores_ = cores;
  ForEachWindow(before->mark, now, [&](WindowId window, double share) {
    if (window < first_) return;
    Open& open = OpenAt(window);
    const double seconds = NodeSeconds(before->mark, now) * share;
    open.cpu_s += seconds;
    open.cpu_core_s += seconds * cores;
    open.cpu_peak_cores = std::max(open.cpu_peak_cores, static_cast<float>(cores));
    open.cpu.Add(cores, seconds);
  });
  return fell;
}

bool TaskMeter::AddCount(std::optional<uint64_t> value, std::optional<Counter>& counter, const Mark& now,
                         std::optional<uint64_t> Open::*count) {
  if (!value) return false;
  const std::optional<Counter> before = std::exchange(counter, Counter{*value, now});
  if (!before) return false;
  const bool fell = *value < before->value;
  // The counters of CPU periods may be read less often than usage. A count from more than a window ago belongs to
  // no open window.
  const bool late = TooLong(before->mark, now) && NodeSeconds(before->mark, now) > kWindowSeconds;
  if (late || WindowId::Of(now.at) < first_) return fell;
  const uint64_t increase = fell ? *value : *value - before->value;
  double share_before = 0;
  uint64_t given = 0;
  ForEachWindow(before->mark, now, [&](WindowId window, double share) {
    share_before += share;
    const bool rest = share_before > 1 - 1e-9;
    const uint64_t upto =
        rest ? increase : static_cast<uint64_t>(static_cast<double>(increase) * share_before);
    // Counts for a window that was already returned are added to the next window: no event is lost.
    Bump(OpenAt(std::max(window, first_)).*count, upto - given);
    given = upto;
  });
  return fell;
}

void TaskMeter::Add(const TaskReading& reading, int64_t steady_us, Timestamp at) {
  assert(!last_ || steady_us >= last_->steady_us);
  const Mark now{steady_us, at};
  memory_ = UsageIn(reading);
  EndLate(at);
  // Return before any mark is updated, so that the next rate covers this time too.
  if (last_ && steady_us - last_->steady_us < options_.min_gap_us) return;

  bool gap = usage_ && reading.cpu_usage_us && TooLong(usage_->mark, now);
  if (last_) {
    if (Jumped(*last_, now)) ++counts_.jumps;
    if (TooLong(*last_, now)) {
      gap = true;
    } else if (memory_) {
      AddMemory(now);
    }
  }
  if (gap) ++counts_.gaps;
  bool fell = AddCpu(reading, now);
  fell |= AddCount(reading.cpu_periods, periods_, now, &Open::periods);
  fell |= AddCount(reading.cpu_throttled_periods, throttled_, now, &Open::throttled);
  if (fell) ++counts_.resets;
  last_ = now;
  first_ = std::max(first_, WindowId::Of(at));
}

NodeWindow TaskMeter::Finish(const Open& open) {
  NodeWindow out;
  out.window = open.window;
  if (open.cpu_s > 0) {
    out.figures.cpu_mean_cores = static_cast<float>(open.cpu_core_s / open.cpu_s);
    out.figures.cpu_peak_cores = open.cpu_peak_cores;
    out.cpu_buckets.assign(open.cpu.buckets().begin(), open.cpu.buckets().end());
  }
  if (open.memory_s > 0) {
    out.figures.memory_mean_bytes = static_cast<float>(open.memory_byte_s / open.memory_s);
    out.figures.memory_peak_bytes = open.memory_peak_bytes;
  }
  out.cpu_periods = open.periods;
  out.cpu_throttled_periods = open.throttled;
  return out;
}

// Closes the last window of a task that can no longer be read, which would otherwise stay open forever.
void TaskMeter::EndLate(Timestamp at) {
  if (!last_ || open_.empty()) return;
  // After a gap of more than max_gap_us and kMaxDriftUs, no reading can cover time before `at`. Either steady time
  // has advanced by this gap, so that the next reading has no rate, or node time has jumped.
  const WindowId newest = open_.back().window;
  const double late_s = static_cast<double>(at.us - last_->at.us) / kMicrosPerSecond;
  const double gap_s = static_cast<double>(options_.max_gap_us + kMaxDriftUs) / kMicrosPerSecond;
  if (EndOf(newest) <= at && late_s > gap_s * options_.speed) first_ = std::max(first_, newest.next());
}

void TaskMeter::CloseUntil(Timestamp at, std::vector<NodeWindow>& out) {
  EndLate(at);
  size_t over = 0;
  for (; over < open_.size() && open_[over].window < first_; ++over) {
    const Open& open = open_[over];
    if (open.cpu_s > 0 || open.memory_s > 0) out.push_back(Finish(open));
  }
  open_.erase(open_.begin(), open_.begin() + static_cast<ptrdiff_t>(over));
}

void TaskMeter::CloseAll(std::vector<NodeWindow>& out) {
  if (open_.empty()) return;
  first_ = std::max(first_, open_.back().window.next());
  CloseUntil(EndOf(open_.back().window), out);
}

size_t TaskMeter::state_bytes() const {
  size_t bytes = sizeof(*this) + (open_.capacity() - open_.size()) * sizeof(Open);
  for (const Open& open : open_) bytes += sizeof(Open) - sizeof(WindowHistogram) + open.cpu.state_bytes();
  return bytes;
}

}  // namespace taut::node
