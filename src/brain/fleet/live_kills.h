// Handles OOM kills, tasks that grow towards a limit, and the memory peaks that kernels keep.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "brain/fleet/vertical_pass.h"

namespace taut::brain {

// Time range of an OOM kill and time of its decision, seconds since the epoch.
struct KillTimes {
  int64_t since_s = INT64_MAX;  // earliest possible time of the kill; INT64_MAX: the recorded time is exact
  int64_t now_s = INT64_MIN;    // time of the decision; at least the time of the kill
};

// Memory peaks of a job's tasks as kept by kernels, in bytes.
struct JobKernelPeaks {
  double risen = 0;  // highest peak of the tasks whose usage grew; 0: none
  // met: peaks of tasks that were first seen since the start of tautd; the peaks may be older. standing: peaks
  // of all tasks.
  std::span<const float> met, standing;
};

// Processes kills, growth and kernel peaks. Not thread-safe.
class LiveKills {
 public:
  LiveKills(FleetState& state, VerticalPass& pass, LiveRisk& risk) : s_(state), pass_(pass), risk_(risk) {}

  // Processes an OOM kill immediately, even if it is reported late. Decides a new limit unless `when` is kPast.
  // Assigns oom.id. If oom.limit is absent, sets oom.limit to the limit in force at the time of the kill. No
  // effect for an unknown job.
  void TakeOom(OomRecord& oom, PassOutput& out, When when = When::kNow, const KillTimes& times = {});
  // Returns, by job, memory limits that Tautline has lowered and that an actuator other than agents applies.
  // Before a growing task is killed at a limit in this list, TakeGrowth raises the limit, at most to the owner's
  // limit. O(jobs).
  std::vector<std::pair<JobId, double>> LoweredLimits() const;
  // Raises a memory limit that Tautline has lowered, at most to the owner's limit, because a task is expected to
  // reach `bytes` before the next decision.
  void TakeGrowth(JobId id, double bytes, int64_t now_s, PassOutput& out);
  // Records kernel peaks at the end of `window`. During four half-lives of the moving window, no decision lowers
  // a limit below a peak. Ignores a peak at the limit, because the kernel reclaims memory at the limit, so the
  // peak does not show the need.
  void TakeKernelPeaks(JobId id, const JobKernelPeaks& peaks, WindowId window);
  // Processes a stored kill again. Call in the order of arrival, and before the windows that end after the kill.
  void Redo(const OomRecord& oom);
  void EndRestore() { known_.clear(); }

 private:
  // Returns the limit that killed the task, for a kill whose source did not report the limit; absent: no limit.
  std::optional<double> LimitAtKill(const LiveJob& job, const OomRecord& oom, int64_t since_s) const;
  // Returns the owner's limit if a lower limit of Tautline killed the task, so that the first decision after the
  // kill must restore the owner's limit; else absent.
  std::optional<double> OwnersAnswer(const LiveJob& job, const OomRecord& oom) const;
  void TakeIn(LiveJob& job, const OomRecord& oom);
  // Records a kill of an init or ephemeral container, from which the job's lanes do not learn.
  void TakeInAside(LiveJob& job, const OomRecord& oom);

  FleetState& s_;
  VerticalPass& pass_;
  LiveRisk& risk_;
  // During a restore, time and id of the last kill in the job's checkpoint, by job.
  absl::flat_hash_map<uint32_t, std::pair<int64_t, uint64_t>> known_;
};

}  // namespace taut::brain
