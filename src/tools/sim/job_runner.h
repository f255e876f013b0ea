// Runs one job through one day under every recommender, and scores the recommenders. This is the parallel
// part of a replay: it changes only the job's own state and the scratch memory passed to it.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "brain/fleet/job_stepper.h"
#include "brain/fleet/policies.h"
#include "brain/fleet/risk_table.h"
#include "brain/fleet/signal_builder.h"
#include "tools/sim/replay.h"
#include "tools/sim/scorecard.h"

namespace taut::tools {

// One lane of one job, with the state that scoring keeps from window to window.
struct ScoredLane : brain::ManagedLane {
  ScoredLane(std::unique_ptr<brain::Recommender> r, bool cap_at_owner)
      : brain::ManagedLane(brain::Lane(std::move(r), cap_at_owner)) {}
  bool seen = false;  // true if a limit, or the known absence of a limit, was in force before
  std::optional<double> last_limit;
  brain::OpenRiskDay risk;
  uint8_t risk_class = 0;  // RiskKey::job_class
};

// A job under one recommender: the job's limits, and the tasks that were stopped by OOM kills at these
// limits.
struct JobWorld {
  std::vector<ScoredLane> lanes;  // one per requested resource, in the order of the request
  struct Down {
    uint32_t task = 0;
    int32_t until_window = 0;  // the task runs again from this window on
  };
  std::vector<Down> down;
};

struct JobState {
  std::vector<JobWorld> worlds;  // one world per policy
};

// Outcome of a job's day, by policy, then resource.
struct JobDayOutcome {
  JobId job;
  std::vector<DayScore> scores;
  std::vector<std::optional<brain::RiskDay>> risks;  // absent if no limit of the recommender was in force
  std::vector<LimitChange> changes;
  std::vector<PerResource<brain::FleetRows>> rows;  // rows of each policy, by resource
  RecordedKills recorded;
  uint64_t steps = 0;
  void Clear();
};

// Memory that a thread reuses from job to job.
struct RunnerScratch {
  PerResource<brain::DaySignals> signals;
  PerResource<std::vector<float>> usages;
  std::vector<TaskUsage> tasks;
  std::vector<BucketWeight> buckets;
  std::vector<OomEvent> ooms;
  std::vector<uint32_t> newly_down, candidates;
};

// Limits at which tasks run in a window.
struct WindowLimits {
  std::optional<double> in_force;  // limit of the tasks outside a trial; absent: unlimited
  const brain::Trial* trial;       // nullptr: none
  bool is_owners;                  // true if in_force is the owner's limit, which may differ between tasks

  // Returns the limit of a task. REQUIRES: in_force has a value.
  double Of(uint32_t task) const { return trial != nullptr && trial->Has(task) ? trial->limit : *in_force; }
  // Returns the sum of the limits of the signal's tasks. REQUIRES: in_force has a value.
  double Sum(const Signal& signal) const;
};

// The kills in one window.
struct WindowKills {
  std::span<const TaskKills> recorded;  // recorded by the trace, ascending by task
  std::span<const OomEvent> of_limits;  // caused by the limits of the replay itself
};

struct LaneKey {
  JobId job;
  brain::PolicyPair policy;
  Resource resource;
};

// A day of one lane.
struct LaneDay {
  std::span<const Signal> signals;
  std::span<const TaskKills> kills;  // recorded by the trace
};

class JobRunner {
 public:
  explicit JobRunner(const ReplayOptions& options) : options_(options) {}

  // Returns new lanes for all policies and resources; `fleets` has one entry per policy.
  std::unique_ptr<JobState> NewState(const JobInfo& job,
                                     std::span<const std::unique_ptr<brain::FleetModels>> fleets) const;
  // Returns the state of a new run of the same program, which starts with the recommenders of `previous`.
  std::unique_ptr<JobState> Inherit(const JobState& previous) const;
  // Runs the job's day and overwrites `out` with the outcome. Thread-safe for distinct jobs with distinct
  // `state`, `scratch` and `out`.
  void RunDay(const JobDay& day, JobState& state, RunnerScratch& scratch, JobDayOutcome& out) const;

 private:
  // Returns the limits in force in a window. `owner` is the owner's limit in the window; absent if none is
  // known.
  WindowLimits LimitsOf(const ScoredLane& lane, std::optional<double> owner) const;
  // Observes a closed window and its kills, and decides the limit from the next window on.
  void CloseWindow(const Signal& signal, const WindowKills& kills, Resource resource, ScoredLane& lane,
                   RunnerScratch& scratch, DayScore& score) const;
  void CountRisk(const Signal& signal, const WindowLimits& limits, std::span<const TaskKills> kills,
                 const LaneKey& key, ScoredLane& lane) const;
  void TakeRecorded(std::span<const TaskKills> kills, WindowId window, std::optional<double> owner,
                    ScoredLane& lane) const;
  void RunLane(LaneDay day, const LaneKey& key, ScoredLane& lane, RunnerScratch& scratch, JobDayOutcome& out,
               DayScore& score) const;
  void RunWithRestarts(const JobDay& day, brain::PolicyPair policy, JobWorld& world, RunnerScratch& scratch,
                       JobDayOutcome& out, std::span<DayScore> scores) const;
  const ReplayOptions& options_;
};

}  // namespace taut::tools
