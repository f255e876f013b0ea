// Runs one job through one day under every recommender and scores it. The parallel part of a replay: touches
// nothing but its own job's state and the scratch it is given.
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

// One lane of one job, with what scoring must remember from window to window.
struct ScoredLane : brain::ManagedLane {
  ScoredLane(std::unique_ptr<brain::Recommender> r, bool cap_at_owner)
      : brain::ManagedLane(brain::Lane(std::move(r), cap_at_owner)) {}
  bool seen = false;  // a limit has been in force (or none, knowingly) before
  std::optional<double> last_limit;
  brain::OpenRiskDay risk;
  uint8_t risk_class = 0;  // RiskKey::job_class
};

// A job under one recommender: both its limits, and the tasks that this recommender's OOMs have put out of
// service.
struct JobWorld {
  std::vector<ScoredLane> lanes;  // one a resource asked for, in that order
  struct Down {
    uint32_t task = 0;
    int32_t until_window = 0;  // back from this window on
  };
  std::vector<Down> down;
};

struct JobState {
  std::vector<JobWorld> worlds;  // one a policy
};

// What a job's day leaves behind, lane by lane (policy-major).
struct JobDayOutcome {
  JobId job;
  std::vector<DayScore> scores;
  std::vector<std::optional<brain::RiskDay>> risks;  // absent: no limit of the recommender's was in force
  std::vector<LimitChange> changes;
  std::vector<PerResource<brain::FleetRows>> rows;  // one a policy, by resource
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

// What tasks run at in a window.
struct WindowLimits {
  std::optional<double> in_force;  // of the tasks outside a trial; absent: unlimited
  const brain::Trial* trial;       // nullptr: none
  bool is_owners;                  // in_force is the owner's, of which each task has its own

  // REQUIRES: in_force.
  double Of(uint32_t task) const { return trial != nullptr && trial->Has(task) ? trial->limit : *in_force; }
  double Sum(const Signal& signal) const;
};

// The kills in one window.
struct WindowKills {
  std::span<const TaskKills> recorded;  // by the trace, ascending by task
  std::span<const OomEvent> of_limits;  // that the replay's own limits have caused
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

  // `fleets`: one a policy.
  std::unique_ptr<JobState> NewState(const JobInfo& job,
                                     std::span<const std::unique_ptr<brain::FleetModels>> fleets) const;
  // A new run of the same program starts from where `previous` stands.
  std::unique_ptr<JobState> Inherit(const JobState& previous) const;
  void RunDay(const JobDay& day, JobState& state, RunnerScratch& scratch, JobDayOutcome& out) const;

 private:
  // Of a window whose owner's limit is `owner`.
  WindowLimits LimitsOf(const ScoredLane& lane, std::optional<double> owner) const;
  // Takes in a closed window and the kills in it, and decides the limit from the next window on.
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
