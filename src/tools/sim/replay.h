// Replays the job-days of a trace through the engine as in production, and scores every recommender.
//
// A replay is one pass over the days. Within a day, jobs are independent and run in parallel. Between days, the
// fleet models learn. Memory: the state of the jobs so far, one day of usage, and the scores. The result is
// bitwise independent of the number of threads.
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

// Source of days for a replay, such as JobDayStore of tools/trace.
class DaySource {
 public:
  virtual ~DaySource() = default;
  virtual const std::vector<JobInfo>& jobs() const = 0;
  virtual const std::vector<int32_t>& days() const = 0;  // days with usage, ascending
  // Returns the last day on which the job has usage. The result determines only how long the job's state is kept.
  virtual int32_t last_day(JobId job) const = 0;
  // Returns the jobs of a day, ascending by JobId; none for a day without usage. Called from one thread.
  virtual absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) = 0;
};

enum class Feedback : uint8_t {
  // Usage stays as recorded, regardless of the limit (Autopilot was tuned this way). Recorded kills are reported
  // to every recommender, like live kills. They count as usage above every limit up to the limit at the kill.
  kNone,
  // A task above its memory limit is killed and absent for restart_delay_s, and its usage is capped at the limit.
  // CPU usage is capped at the CPU limit. A recorded kill counts as usage above the limit at the kill. A task with
  // a higher limit is assumed to survive the kill, and its recommender does not observe the kill.
  kOomRestart
};

struct ReplayOptions {
  std::vector<brain::PolicyPair> policies;
  std::vector<Resource> resources = {Resource::kCpu, Resource::kMemory};
  brain::VerticalSettings settings;
  Feedback feedback = Feedback::kNone;
  int64_t restart_delay_s = 600;
  // Time at the start that is replayed but not scored. Scoring starts with the next whole day.
  int64_t warmup_s = 7 * kDaySeconds;
  bool cap_at_owner = false;  // true: a limit is at most the owner's limit
  int threads = 0;            // number of threads; 0: one per core
  // Absent: recommendations become limits at once. Otherwise limits are decided as in tautd, with this policy's
  // mode, min_change, change_period, maintenance and canary. The policy's recommender, class and bounds are
  // ignored. In modes observe and off the owners' limits are in force; in mode observe the would-be limits are
  // scored.
  std::optional<brain::JobPolicy> managed;
};

// A limit that comes into force: the first limit of a lane, or a change. Applies to tasks outside a trial. `limit`
// is absent if the tasks are unlimited.
struct LimitChange {
  JobId job;
  brain::PolicyPair policy;
  Resource resource;
  WindowId from;
  std::optional<double> limit;
};

// Sums over the fleet for one day and one lane, for the chart over time.
struct FleetDay {
  int32_t day = 0;
  double limit_seconds = 0, owner_limit_seconds = 0, usage_seconds = 0;
  uint64_t job_days = 0, oom_days = 0, changes = 0;
};

// OOM kills in the trace on the scored days.
struct RecordedKills {
  // Numbers of kills, and of task-windows and job-days with a kill.
  uint64_t kills = 0, killed_windows = 0, job_days = 0;
  // Number of task-windows for which the trace reports the number of OOM kills, and of all task-windows.
  uint64_t told_windows = 0, task_windows = 0;
};

struct LaneResult {
  brain::PolicyPair policy;
  Resource resource;
  LaneSummary summary;          // sums over the days after the warm-up
  std::vector<Totals> per_job;  // totals over the days after the warm-up, by JobId
  ScoresByJob scores_by_job;    // of the jobs that were replayed in parts and are not in per_job
  std::vector<FleetDay> fleet;  // fleet on all days, including the warm-up
  brain::RiskTable risks;       // risks on the days after the warm-up
};

struct ReplayResult {
  // Results, ordered by policy and then by resource, as in the options.
  std::vector<LaneResult> lanes;
  RecordedKills recorded;
  int32_t first_day = 0, last_day = 0, first_scored_day = 0;
  int64_t first_scored_s = 0;
  uint64_t days_done = 0, days_total = 0;
  uint64_t jobs = 0;
  uint64_t job_windows = 0;        // number of stepped job-windows, over all resources
  bool partial = false;            // true if the replay was stopped before its end
  bool capped_at_owner = false;    // value of ReplayOptions::cap_at_owner
  double state_bytes_per_job = 0;  // mean over jobs, for all lanes together
};

// A limit for one job and resource that does not come from a recommender of the replay.
struct DayAnswer {
  JobId job;
  Resource resource = Resource::kCpu;
  brain::ExternalLimit limit;
};

// The shares of one day for the fleet models of all policies, by policy and IndexOf(Resource).
using FleetShares = std::vector<std::vector<brain::FleetShare>>;

std::string SaveShares(const FleetShares& shares);
// Merges shares of one day that SaveShares wrote in replays with these options. Returns DataLoss for bytes that
// SaveShares cannot have written.
absl::StatusOr<FleetShares> MergeShares(const ReplayOptions& options, int32_t day,
                                        const std::vector<std::string>& parts);

// One part of a fleet that is replayed in parts, for example by processes on several machines.
struct FleetPart {
  std::vector<int32_t> days;  // days with usage of any job of the fleet, ascending
  int64_t first_s = 0;        // start of the fleet's first window
  // Called at the end of each day with the share of this part. Returns the merged share of all parts. An error
  // ends the replay with that error. Null: the fleet models learn from this part alone.
  std::function<absl::StatusOr<FleetShares>(int32_t day, FleetShares own)> exchange = nullptr;
  // Called with the state of this part after every `checkpoint_days` days (0: never), except after the last day.
  // An error ends the replay with that error.
  int checkpoint_days = 0;
  std::function<absl::Status(int32_t day, std::string state)> on_checkpoint = nullptr;
  // State that on_checkpoint received in a replay of this part with the same source and options. The replay
  // continues after the state's day: on_change receives the changes of later days only. The result is the same
  // except for state_bytes_per_job, since the buffers of loaded states may have another capacity. "": the replay
  // begins with the first day.
  std::string resume = {};
};

struct ReplayHooks {
  // Called for every limit that comes into force, ordered by day, job, lane and window. Called between days. An
  // error ends the replay with that error.
  std::function<absl::Status(const LimitChange&)> on_change;
  std::function<void(uint64_t days_done, uint64_t days_total, uint64_t job_windows)> on_progress;
  // Called before the state of a job is released, after its last day or at the end of the replay. Called once per
  // lane, between days.
  std::function<void(JobId, brain::PolicyPair, Resource, const brain::Lane&)> on_job_end;
  // Called before each day with the jobs that have usage on the day. While an answer is valid, it replaces the
  // limits of all recommenders of its job and resource. Used only with VerticalSettings::external; null: no
  // answers. An error ends the replay with that error.
  std::function<absl::StatusOr<std::vector<DayAnswer>>(int32_t day, const std::vector<JobDay>& jobs)> answers;
  // Called between days. Returns true to end the replay with a partial result.
  std::function<bool()> should_stop;
};

// Replays all days of `source`. Returns InvalidArgument if there is no policy, resource or day, and for mode
// observe with feedback oom-restart. Returns errors of LoadDay() and on_change.
absl::StatusOr<ReplayResult> Replay(DaySource& source, const ReplayOptions& options,
                                    const ReplayHooks& hooks);
// The result of a part. `sums` contains the bytes of ReplaySums::Save(), which MergeParts() reads.
struct PartResult {
  ReplayResult result;
  std::string sums;
};
// Replays a part of a fleet on all days of the fleet. `source` may have no day. Returns the errors of Replay() and
// of the functions of `part`. Returns InvalidArgument or DataLoss for an unusable FleetPart::resume.
absl::StatusOr<PartResult> ReplayPart(DaySource& source, const ReplayOptions& options,
                                      const ReplayHooks& hooks, const FleetPart& part);
// Merges the sums of all parts to the result of the fleet, without `per_job`. Returns InvalidArgument or DataLoss
// for sums that are not parts of one replay with these options.
absl::StatusOr<ReplayResult> MergeParts(const ReplayOptions& options, const std::vector<std::string>& sums);

}  // namespace taut::tools
