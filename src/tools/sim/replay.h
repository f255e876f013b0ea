// Replays a trace's job-days through the engine, as production would have, and scores every recommender.
//
// One pass over the days. Within a day jobs are independent and run in parallel; between days the fleet
// models learn from the day. Memory: the state of the jobs seen, one day of usage, and the scores. The result
// is equal to the bit for any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/fleet/lane.h"
#include "brain/fleet/policies.h"
#include "brain/fleet/risk_table.h"
#include "brain/recommend/settings.h"
#include "brain/rollout/job_policy.h"
#include "common/model/usage.h"
#include "tools/sim/scorecard.h"

namespace taut::tools {

// Source of the days of a replay: JobDayStore of tools/trace, or days that a test builds.
class DaySource {
 public:
  virtual ~DaySource() = default;
  virtual const std::vector<JobInfo>& jobs() const = 0;
  virtual const std::vector<int32_t>& days() const = 0;  // the days with usage, ascending
  // Returns the last day on which the job has usage. It only decides how long the job's state is kept.
  virtual int32_t last_day(JobId job) const = 0;
  // Returns the day's jobs, ascending by JobId. Called from one thread.
  virtual absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) = 0;
};

enum class Feedback : uint8_t {
  // Usage stays as recorded, whatever the limit (Autopilot was tuned this way). Recorded kills are reported
  // to every recommender as live kills are. They count as usage over every limit up to the limit at which the
  // task was killed.
  kNone,
  // A task over its memory limit is killed and absent for restart_delay_s, and its usage is cut at the limit.
  // CPU usage is cut at the CPU limit. A recorded kill counts as usage over the limit at which the task was
  // killed. A task with a higher limit is assumed to survive the recorded kill, and the task's recommender
  // does not observe it.
  kOomRestart
};

struct ReplayOptions {
  std::vector<brain::PolicyPair> policies;
  std::vector<Resource> resources = {Resource::kCpu, Resource::kMemory};
  brain::VerticalSettings settings;
  Feedback feedback = Feedback::kNone;
  int64_t restart_delay_s = 600;
  // Time from the first window of the trace that is replayed but not scored; scoring begins with the next
  // whole day.
  int64_t warmup_s = 7 * kDaySeconds;
  bool cap_at_owner = false;  // true: no recommender's limit is above the owner's
  int threads = 0;            // 0: one per core
  // Absent: recommendations are the limits. Otherwise limits are decided as by the daemon, with the mode,
  // min_change, change_period, maintenance and canary of this policy. Its recommender, class and bounds are
  // ignored. In modes observe and off the owners' limits are in force; in mode observe the limits that would
  // be shown are scored.
  std::optional<brain::JobPolicy> managed;
};

// A limit that comes into force: the first limit of a lane, or a change. It applies to the tasks outside a
// trial. If `limit` is absent, the tasks are unlimited.
struct LimitChange {
  JobId job;
  brain::PolicyPair policy;
  Resource resource;
  WindowId from;
  std::optional<double> limit;
};

// Sums over the whole fleet for one day and one lane, for the chart over time.
struct FleetDay {
  int32_t day = 0;
  double limit_seconds = 0, owner_limit_seconds = 0, usage_seconds = 0;
  uint64_t job_days = 0, oom_days = 0, changes = 0;
};

// OOM kills recorded by the trace, over the days that are scored.
struct RecordedKills {
  uint64_t kills = 0, killed_windows = 0, job_days = 0;  // killed_windows: task-windows with a kill
  // Task-windows for which the trace reports a number of kills, and all task-windows.
  uint64_t told_windows = 0, task_windows = 0;
};

struct LaneResult {
  brain::PolicyPair policy;
  Resource resource;
  LaneSummary summary;          // days after the warm-up
  std::vector<Totals> per_job;  // totals of each job by JobId, over the days after the warm-up
  std::vector<FleetDay> fleet;  // all days, including the warm-up
  brain::RiskTable risks;       // days after the warm-up
};

struct ReplayResult {
  // Policies in the order of the options; within each, resources in the order of the options.
  std::vector<LaneResult> lanes;
  RecordedKills recorded;
  int32_t first_day = 0, last_day = 0, first_scored_day = 0;
  int64_t first_scored_s = 0;
  uint64_t days_done = 0, days_total = 0;
  uint64_t job_windows = 0;        // windows that were stepped, all resources
  bool partial = false;            // stopped before the end
  bool capped_at_owner = false;    // cap_at_owner of the options
  double state_bytes_per_job = 0;  // mean over jobs, all lanes
};

struct ReplayHooks {
  // Called for every limit that comes into force, ordered by day, job, lane and window. Called between days.
  std::function<absl::Status(const LimitChange&)> on_change;
  std::function<void(uint64_t days_done, uint64_t days_total, uint64_t job_windows)> on_progress;
  // Called before a job's state is released, because its last day is over or the replay ends. Called once per
  // lane, between days. An error of on_change ends the replay with that error.
  std::function<void(JobId, brain::PolicyPair, Resource, const brain::Lane&)> on_job_end;
  // Called between days; returns true to end the replay with a partial result.
  std::function<bool()> should_stop;
};

// Replays all days of `source`. Returns InvalidArgument without a policy, resource or day, and for mode
// observe with feedback oom-restart. Else returns the errors of LoadDay and on_change.
absl::StatusOr<ReplayResult> Replay(DaySource& source, const ReplayOptions& options,
                                    const ReplayHooks& hooks);

}  // namespace taut::tools
