// OOM kills, tasks that grow towards a limit, and what kernels keep of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "brain/fleet/vertical_pass.h"

namespace taut::brain {

// When an OOM kill was, and when it is decided on.
struct KillTimes {
  int64_t since_s = INT64_MAX;  // the kill was not earlier; INT64_MAX: its time is exact
  int64_t now_s = INT64_MIN;    // of the decision, which is not before the kill
};

// What the kernels keep of tasks of a job.
struct JobKernelPeaks {
  double risen = 0;  // bytes: the highest of tasks that grew; 0: none
  // The peaks of tasks met first since the start, which may have stood before it, and those of all tasks.
  std::span<const float> met, standing;
};

class LiveKills {
 public:
  LiveKills(FleetState& state, VerticalPass& pass, LiveRisk& risk) : s_(state), pass_(pass), risk_(risk) {}

  // An OOM kill, at once, however late it is reported. `oom.limit` is filled in where it is unknown: with the
  // limit at the time of the kill. Nothing happens of a job that is not known.
  void TakeOom(OomRecord& oom, PassOutput& out, When when = When::kNow, const KillTimes& times = {});
  // The memory limits that Tautline has lowered and an actuator other than agents applies, by job: tasks that grow
  // towards one get more before they are killed, up to the owner's. O(jobs).
  std::vector<std::pair<JobId, double>> LoweredLimits() const;
  // A task of the job will have so much before the next decision.
  void TakeGrowth(JobId id, double bytes, int64_t now_s, PassOutput& out);
  // No cut goes below such a peak while it is in the history that counts, four times the half-life of the moving
  // window. A peak at the limit says what the kernel reclaimed, and not what the task needs.
  void TakeKernelPeaks(JobId id, const JobKernelPeaks& peaks, WindowId window);
  // A stored kill, once more: in the order in which they were taken in, each before the windows that end after it.
  void Redo(const OomRecord& oom);
  void EndRestore() { known_.clear(); }

 private:
  // The limit that killed the task, where the source does not say it.
  std::optional<double> LimitAtKill(const LiveJob& job, const OomRecord& oom, int64_t since_s) const;
  // What the first answer to the kill restores: the owner's limit, if a lower one of Tautline's killed.
  std::optional<double> OwnersAnswer(const LiveJob& job, const OomRecord& oom) const;
  void TakeIn(LiveJob& job, const OomRecord& oom);
  // Of an init or ephemeral container: the job's lanes learn nothing of it.
  void TakeInAside(LiveJob& job, const OomRecord& oom);

  FleetState& s_;
  VerticalPass& pass_;
  LiveRisk& risk_;
  // During a restore: by job, the time and the id of the last kill in its checkpoint.
  absl::flat_hash_map<uint32_t, std::pair<int64_t, uint64_t>> known_;
};

}  // namespace taut::brain
