// Runs one job through one day under every recommender, and scores the recommenders. A replay runs the jobs of a
// day in parallel, because a run changes only the job's own state and the given scratch memory.
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

// A lane of one job, with the state that scoring keeps between windows.
struct ScoredLane : brain::ManagedLane {
  ScoredLane(std::unique_ptr<brain::Recommender> r, bool cap_at_owner)
      : brain::ManagedLane(brain::Lane(std::move(r), cap_at_owner)) {}
  bool seen = false;  // true after a limit, or the absence of a limit, was in force
  std::optional<double> last_limit;
  brain::OpenRiskDay risk;
  uint8_t risk_class = 0;  // RiskKey::job_class
};

// A job under one recommender: its lanes, and the tasks that are stopped after OOM kills at the recommender's
// limits.
struct JobWorld {
  std::vector<ScoredLane> lanes;  // lanes, one per requested resource, in the order of the request
  struct Down {
    uint32_t task = 0;
    int32_t until_window = 0;  // first window in which the task runs again
  };
  std::vector<Down> down;
};

struct JobState {
  uint64_t key = 0;              // JobKey of the job's name
  JobId made_for;                // job for which the recommenders were made: the first run of the program
  std::vector<JobWorld> worlds;  // worlds by policy
};

// Outcome of a job's day, by policy and resource.
struct JobDayOutcome {
  JobId job;
  std::vector<DayScore> scores;
  // Risk of the day; absent if no limit of the recommender was in force
  std::vector<std::optional<brain::RiskDay>> risks;
  std::vector<LimitChange> changes;
  std::vector<PerResource<brain::FleetRows>> rows;  // rows by policy and resource
  RecordedKills recorded;
  uint64_t steps = 0;
  void Clear();
};

// Memory that a thread reuses for its next jobs.
struct RunnerScratch {
  PerResource<brain::DaySignals> signals;
  PerResource<std::vector<float>> usages;
  std::vector<TaskUsage> tasks;
  std::vector<BucketWeight> buckets;
  std::vector<OomEvent> ooms;
  std::vector<uint32_t> newly_down, candidates;
};

// Limits in force in a window.
struct WindowLimits {
  std::optional<double> in_force;  // limit of tasks outside a trial; absent: unlimited
  const brain::Trial* trial;       // current trial; null: none
  bool is_owners;                  // true: in_force is the owner's limit, which may differ between tasks

  // Returns the limit of a task. REQUIRES: in_force has a value.
  double Of(uint32_t task) const { return trial != nullptr && trial->Has(task) ? trial->limit : *in_force; }
  // Returns the sum of the limits of the signal's tasks. REQUIRES: in_force has a value.
  double Sum(const Signal& signal) const;
};

// OOM kills of one window.
struct WindowKills {
  std::span<const TaskKills> recorded;  // kills in the trace, ascending by task
  std::span<const OomEvent> of_limits;  // kills caused by the replay's own limits
};

struct LaneKey {
  JobId job;
  brain::PolicyPair policy;
  Resource resource;
};

// A day of one lane.
struct LaneDay {
  std::span<const Signal> signals;
  std::span<const TaskKills> kills;  // kills in the trace
};

class JobRunner {
 public:
  explicit JobRunner(const ReplayOptions& options) : options_(options) {}

  // Returns new lanes for all policies and resources of a job. `fleets` has one entry per policy.
  std::unique_ptr<JobState> NewState(const JobInfo& job,
                                     std::span<const std::unique_ptr<brain::FleetModels>> fleets) const;
  // Returns the state of a new run of the same program, which starts with the recommenders' state of `previous`.
  std::unique_ptr<JobState> Inherit(const JobState& previous) const;
  // Saves the state between two days.
  static void Save(const JobState& state, ByteWriter& out);
  // Reads the bytes that Save wrote. REQUIRES: `state` is the NewState() of the job `made_for`, with equal fleet
  // models. Returns DataLoss for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in, JobState& state) const;
  // Runs one day of a job and overwrites `out` with the outcome. Thread-safe for distinct jobs if `state`,
  // `scratch` and `out` are distinct.
  void RunDay(const JobDay& day, JobState& state, RunnerScratch& scratch, JobDayOutcome& out) const;

 private:
  // Returns the limits in force in a window. `owner` is the owner's limit; absent if unknown.
  WindowLimits LimitsOf(const ScoredLane& lane, std::optional<double> owner) const;
  // Observes a closed window and its kills, and decides the limit for the next window.
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
