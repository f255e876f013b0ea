#include "server/control/agent_windows.h"

#include <algorithm>
#include <cmath>

#include "common/base/probe.h"

namespace taut::server {
namespace {

// Bound on times in seconds, far below the greatest Timestamp.
constexpr int64_t kLatestTime = int64_t{1} << 40;

// Returns false if the message is well-formed but its values are impossible for a task.
bool IsSane(const ReportedWindow& w) {
  const TaskWindow& f = w.figures;
  for (const float v :
       {f.cpu_mean_cores, f.cpu_peak_cores, f.memory_mean_bytes, f.memory_peak_bytes, f.memory_needed_bytes,
        w.memory_kernel_peak_bytes, w.cpu_limit_cores, w.memory_limit_bytes}) {
    if (!std::isfinite(v)) return false;
  }
  if (w.window.index == INT32_MAX) return false;  // this window has no end
  int last = -1;
  for (const BucketWeight& b : w.cpu_buckets) {
    if (b.bucket <= last || b.bucket >= Grid::Cpu().size()) return false;
    if (!(b.weight > 0) || b.weight > 2 * kWindowSeconds) return false;
    last = b.bucket;
  }
  return f.cpu_mean_cores >= 0 || f.memory_mean_bytes >= 0;
}

}  // namespace

std::optional<TaskRef> AgentWindows::Announce(const NamedTask& task, Timestamp now) {
  const std::lock_guard lock(s_.mutex);
  const std::optional<uint32_t> slot =
      s_.ingest->TaskSlot(task.job, task.task, task.labels, s_.clock.At(now), task.container);
  if (!slot.has_value()) return std::nullopt;
  const SeriesBinding& binding = s_.ingest->mapper().binding(*slot);
  return TaskRef{binding.job, binding.task};
}

absl::Status AgentWindows::TakeWindow(const NamedTask& task, ReportedWindow window, Timestamp now) {
  const std::lock_guard lock(s_.mutex);
  if (absl::Status s = s_.CheckRoom(); !s.ok()) return s;
  if (!IsSane(window))
    return absl::InvalidArgumentError(
        "impossible figures: negative, not a number or above the machine's size");
  const Timestamp end = Timestamp::FromSeconds(window.window.next().start_s());
  now = s_.clock.by_samples() && !s_.clock.has_samples() ? end : s_.clock.At(now);
  // This check precedes TaskSlot, because a dropped window must not create a job.
  if (uint64_t IngestCounts::*why = s_.ingest->windows().Refusal(window.window, now); why != nullptr) {
    s_.ingest->CountDropped(why);
    s_.Say({end, task.sender}, false);
    if (why == &IngestCounts::too_late) {
      TAUT_PROBE("an agent's window that is closed already");
      return absl::OkStatus();
    }
    return absl::OutOfRangeError("the window is in the future: the clocks of agent and daemon differ");
  }
  const std::optional<uint32_t> slot = s_.ingest->TaskSlot(task.job, task.task, task.labels, now);
  if (!slot.has_value()) return absl::OkStatus();
  s_.Say({end, task.sender}, s_.ingest->TakeWindow(*slot, std::move(window), now));
  s_.NoteNewest();
  return absl::OkStatus();
}

absl::Status AgentWindows::TakeOom(const NamedTask& task, Timestamp time, uint64_t kills,
                                   std::optional<double> limit, Timestamp now) {
  if (limit.has_value() && !(*limit > 0 && std::isfinite(*limit))) limit.reset();
  time = std::clamp(time, Timestamp{0}, Timestamp::FromSeconds(kLatestTime));
  const std::lock_guard lock(s_.mutex);
  const std::optional<uint32_t> slot =
      s_.ingest->TaskSlot(task.job, task.task, task.labels, s_.clock.At(now));
  if (!slot.has_value()) return absl::OkStatus();
  // The kill was stored before a stop, but the agent did not receive the acknowledgement and reports the kill
  // again. The kill is recognised by job, second and limit, because tasks have new numbers since the restart.
  const uint32_t job = s_.ingest->mapper().binding(*slot).job.value;
  const auto before = s_.ooms_before.lower_bound({job, time.seconds(), limit.value_or(0)});
  const bool was_told = before != s_.ooms_before.end() && std::get<0>(*before) == job &&
                        std::get<1>(*before) == time.seconds() &&
                        (!limit.has_value() || std::get<2>(*before) == *limit);
  if (was_told) {
    TAUT_PROBE("an agent tells again of a kill that is stored");
    return absl::OkStatus();
  }
  s_.ingest->windows().ooms().Add(*slot, time, kills, limit);
  return absl::OkStatus();
}

void AgentWindows::RememberOoms(std::span<const OomRecord> ooms) {
  const std::lock_guard lock(s_.mutex);
  for (const OomRecord& o : ooms) {
    s_.ooms_before.insert({o.job.value, o.time_s, o.limit.value_or(0)});
    s_.kills_before.Add(o);
  }
}

void AgentWindows::SeeTime(Timestamp t) {
  const std::lock_guard lock(s_.mutex);
  if (!s_.clock.by_samples()) return;
  const bool far =
      s_.clock.has_samples() && t.us > s_.clock.newest_sample().us + kMaxSampleStepSeconds * kMicrosPerSecond;
  if (!far) s_.clock.Note(t, s_.ingest->windows().newest_of_series());
}

}  // namespace taut::server
