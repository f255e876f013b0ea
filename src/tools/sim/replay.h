// Replays a trace's job-days through the engine, as production would have, and scores every
// recommender.
//
// One pass over the days; within a day jobs are independent and run in parallel; between days the fleet
// models take in what the day taught. Memory: the state of the jobs seen, one day of usage, and the scores.
// The result is the same to the bit on any number of threads.
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

// Where a replay gets its days from: trace::JobDayStore, or a test's vector.
class DaySource {
 public:
  virtual ~DaySource() = default;
  virtual const std::vector<JobInfo>& jobs() const = 0;
  virtual const std::vector<int32_t>& days() const = 0;  // ascending
  // The last day on which the job has usage; only decides how long its state is kept.
  virtual int32_t last_day(JobId job) const = 0;
  // The day's jobs, ascending by JobId. Called from one thread.
  virtual absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) = 0;
};

enum class Feedback : uint8_t {
  // Usage as recorded, whatever the limit (how Autopilot was tuned). Recorded kills reach every recommender
  // as live ones do, and are over every limit up to the one that killed.
  kNone,
  // A task over its memory limit dies, is absent for restart_delay_s, and its usage is cut at the limit; CPU
  // usage is cut at its limit. A recorded kill is usage over the limit that killed; a higher limit is taken
  // to have spared the task, and its recommender does not learn of the kill.
  kOomRestart
};

struct ReplayOptions {
  std::vector<brain::PolicyPair> policies;
  std::vector<Resource> resources = {Resource::kCpu, Resource::kMemory};
  brain::VerticalSettings settings;
  Feedback feedback = Feedback::kNone;
  int64_t restart_delay_s = 600;
  // Days from the first day of the trace that are replayed but not scored. The first day counts from its
  // first window.
  int64_t warmup_s = 7 * kDaySeconds;
  bool cap_at_owner = false;  // no recommender's limit is above the owner's
  int threads = 0;            // 0: one a core
  // Absent: recommendations are the limits. Else limits are decided as by the daemon, with this policy's
  // mode, min_change, change_period, maintenance and canary; its recommender, class and bounds are not read.
  // In mode observe, and off, the owners' limits hold; observe scores the limits that it would show.
  std::optional<brain::JobPolicy> managed;
};

// A limit that comes into force: the first of a lane, or a change. Of the tasks outside a trial. `limit`
// absent: unlimited.
struct LimitChange {
  JobId job;
  brain::PolicyPair policy;
  Resource resource;
  WindowId from;
  std::optional<double> limit;
};

// One day of the whole fleet, one lane: for the picture over time.
struct FleetDay {
  int32_t day = 0;
  double limit_seconds = 0, owner_limit_seconds = 0, usage_seconds = 0;
  uint64_t job_days = 0, oom_days = 0, changes = 0;
};

// OOM kills that the trace has recorded, over the days that are scored.
struct RecordedKills {
  uint64_t kills = 0, killed_windows = 0, job_days = 0;  // killed_windows: task-windows with a kill
  // Task-windows of which the trace says how many kills there were, and all.
  uint64_t told_windows = 0, task_windows = 0;
};

struct LaneResult {
  brain::PolicyPair policy;
  Resource resource;
  LaneSummary summary;          // days after warm-up
  std::vector<Totals> per_job;  // by JobId, days after warm-up
  std::vector<FleetDay> fleet;  // all days, warm-up too
  brain::RiskTable risks;       // days after warm-up
};

struct ReplayResult {
  std::vector<LaneResult> lanes;  // policies in the order asked, CPU before memory within each
  RecordedKills recorded;
  int32_t first_day = 0, last_day = 0, first_scored_day = 0;
  int64_t first_scored_s = 0;
  uint64_t days_done = 0, days_total = 0;
  uint64_t job_windows = 0;        // stepped, both resources
  bool partial = false;            // stopped before the end
  bool capped_at_owner = false;    // as ordered by the options
  double state_bytes_per_job = 0;  // mean over jobs, all lanes
};

struct ReplayHooks {
  // Every limit that comes into force, ordered by day, then job, then lane, then window. Called between days.
  std::function<absl::Status(const LimitChange&)> on_change;
  std::function<void(uint64_t days_done, uint64_t days_total, uint64_t job_windows)> on_progress;
  // A job's state is about to be released: its last day is over, or the replay ends. Called once a lane,
  // between days.
  std::function<void(JobId, brain::PolicyPair, Resource, const brain::Lane&)> on_job_end;
  // Checked between days; true ends the replay with a partial result.
  std::function<bool()> should_stop;
};

absl::StatusOr<ReplayResult> Replay(DaySource& source, const ReplayOptions& options,
                                    const ReplayHooks& hooks);

}  // namespace taut::tools
