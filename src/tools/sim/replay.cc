#include "tools/sim/replay.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "common/base/worker_pool.h"
#include "oneapi/tbb/enumerable_thread_specific.h"
#include "tools/sim/job_runner.h"

namespace taut::tools {
namespace {

void AddTo(RecordedKills& sum, const RecordedKills& more) {
  sum.kills += more.kills;
  sum.killed_windows += more.killed_windows;
  sum.job_days += more.job_days;
  sum.told_windows += more.told_windows;
  sum.task_windows += more.task_windows;
}

// The state of one call of Replay().
class ReplayRun {
 public:
  ReplayRun(DaySource& source, const ReplayOptions& options, const ReplayHooks& hooks)
      : source_(source), options_(options), hooks_(hooks), runner_(options), workers_(options.threads) {
    for (size_t i = 0; i < options.policies.size(); ++i) {
      fleets_.push_back(std::make_unique<brain::FleetModels>(options.settings));
    }
  }

  absl::StatusOr<ReplayResult> Run();

 private:
  absl::Status RunDay(const std::vector<JobDay>& jobs, int32_t day);
  void StartJobs(const std::vector<JobDay>& jobs);
  absl::Status TakeAnswers(const std::vector<JobDay>& jobs, int32_t day);
  absl::Status Account(int32_t day, size_t num_jobs);
  void UpdateFleet(int32_t day, size_t num_jobs);
  void ReleaseEnded(const std::vector<JobDay>& jobs, int32_t day);
  void EndJob(JobId job, const JobState& state);
  void PrepareResult();
  void SetFirstScored(const std::vector<JobDay>& jobs);

  DaySource& source_;
  const ReplayOptions& options_;
  const ReplayHooks& hooks_;
  JobRunner runner_;
  // Fleet models, one per policy, because a policy must not learn from another policy's limits.
  std::vector<std::unique_ptr<brain::FleetModels>> fleets_;
  WorkerPool workers_;
  tbb::enumerable_thread_specific<RunnerScratch> scratch_;
  // States by JobId; null before the job's first day and after its last day.
  std::vector<std::unique_ptr<JobState>> states_;
  absl::flat_hash_map<std::string, JobId> latest_run_;  // latest run of each program, by its logical name
  std::vector<JobDayOutcome> outcomes_;                 // outcomes of the current day, one per job
  double state_bytes_sum_ = 0;
  uint64_t states_measured_ = 0;
  ReplayResult result_;
};

void ReplayRun::PrepareResult() {
  for (const brain::PolicyPair p : options_.policies) {
    for (Resource r : options_.resources) {
      LaneResult& lane = result_.lanes.emplace_back();
      lane.policy = p;
      lane.resource = r;
      lane.per_job.resize(source_.jobs().size());
    }
  }
  result_.days_total = source_.days().size();
  result_.capped_at_owner = options_.cap_at_owner;
  states_.resize(source_.jobs().size());
}

void ReplayRun::SetFirstScored(const std::vector<JobDay>& jobs) {
  int64_t first_s = INT64_MAX;
  for (const JobDay& j : jobs) {
    if (!j.windows.empty()) first_s = std::min(first_s, j.windows.front().window.start_s());
  }
  // Score whole days only: the first scored day starts at or after the end of the warm-up.
  result_.first_scored_s = first_s + options_.warmup_s;
  result_.first_scored_day =
      static_cast<int32_t>(FloorDiv(result_.first_scored_s + kDaySeconds - 1, kDaySeconds));
  if (options_.warmup_s == 0) result_.first_scored_day = result_.first_day;
}

// Creates the state of new jobs. A new run of a program inherits the recommenders' state of the previous run.
void ReplayRun::StartJobs(const std::vector<JobDay>& jobs) {
  for (const JobDay& j : jobs) {
    std::unique_ptr<JobState>& state = states_[j.job.value];
    if (state != nullptr) continue;
    const JobInfo& info = source_.jobs()[j.job.value];
    if (!info.logical_name.empty()) {
      const auto [it, first] = latest_run_.try_emplace(info.logical_name, j.job);
      if (!first) {
        std::unique_ptr<JobState>& previous = states_[it->second.value];
        if (previous != nullptr) {
          state = runner_.Inherit(*previous);
          // The state of an ended run was kept only for this successor. A run that is still active keeps its
          // state.
          if (source_.last_day(it->second) < j.day) previous.reset();
        }
        it->second = j.job;
      }
    }
    if (state == nullptr) state = runner_.NewState(info, fleets_);
  }
}

// Gives the answers for the day to the recommenders. Ignores answers for jobs without a state.
absl::Status ReplayRun::TakeAnswers(const std::vector<JobDay>& jobs, int32_t day) {
  if (hooks_.answers == nullptr) return absl::OkStatus();
  const absl::StatusOr<std::vector<DayAnswer>> answers = hooks_.answers(day, jobs);
  if (!answers.ok()) return answers.status();
  for (const DayAnswer& answer : *answers) {
    JobState* const state = answer.job.value < states_.size() ? states_[answer.job.value].get() : nullptr;
    if (state == nullptr) continue;
    for (JobWorld& world : state->worlds) {
      for (size_t i = 0; i < world.lanes.size(); ++i) {
        if (options_.resources[i] == answer.resource)
          world.lanes[i].lane.TakeExternal(answer.limit, WindowId{day * kWindowsPerDay});
      }
    }
  }
  return absl::OkStatus();
}

absl::Status ReplayRun::Account(int32_t day, size_t num_jobs) {
  const bool scored = day >= result_.first_scored_day;
  for (LaneResult& lane : result_.lanes) {
    lane.fleet.push_back({.day = day});
    lane.risks.BeginDay(day);
  }
  for (size_t i = 0; i < num_jobs; ++i) {
    const JobDayOutcome& out = outcomes_[i];
    result_.job_windows += out.steps;
    if (scored) AddTo(result_.recorded, out.recorded);
    for (size_t l = 0; l < out.scores.size(); ++l) {
      const DayScore& score = out.scores[l];
      LaneResult& lane = result_.lanes[l];
      FleetDay& fleet = lane.fleet.back();
      fleet.limit_seconds += score.limit_seconds;
      fleet.owner_limit_seconds += score.owner_limit_seconds;
      fleet.usage_seconds += score.usage_seconds;
      fleet.job_days += score.windows > 0 ? 1 : 0;
      fleet.oom_days += score.ooms > 0 ? 1 : 0;
      fleet.changes += score.changes;
      if (!scored) continue;
      lane.summary.Add(score);
      if (out.risks[l].has_value()) lane.risks.Add(*out.risks[l]);
      lane.per_job[out.job.value].Add(score);
    }
    if (hooks_.on_change == nullptr) continue;
    for (const LimitChange& change : out.changes) {
      if (absl::Status s = hooks_.on_change(change); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

void ReplayRun::UpdateFleet(int32_t day, size_t num_jobs) {
  // The models are independent, so they learn in parallel. The rows of a model are in job order, so the result
  // does not depend on threads.
  workers_.ForEach(2 * fleets_.size(), [&](size_t i) {
    const size_t resource = i % 2;
    brain::FleetRows rows;
    for (size_t j = 0; j < num_jobs; ++j) {
      const brain::FleetRows& more = outcomes_[j].rows[i / 2][resource];
      rows.insert(rows.end(), more.begin(), more.end());
    }
    fleets_[i / 2]->CloseDay(kResources[resource], day, std::move(rows));
  });
}

void ReplayRun::EndJob(JobId job, const JobState& state) {
  ++states_measured_;
  for (size_t w = 0; w < state.worlds.size(); ++w) {
    for (size_t i = 0; i < state.worlds[w].lanes.size(); ++i) {
      const brain::Lane& lane = state.worlds[w].lanes[i].lane;
      state_bytes_sum_ += static_cast<double>(lane.recommender().state_bytes());
      if (hooks_.on_job_end != nullptr) {
        hooks_.on_job_end(job, options_.policies[w], options_.resources[i], lane);
      }
    }
  }
}

// Releases the state of jobs whose last day is over, except the newest run of a program, from which the next run
// inherits.
void ReplayRun::ReleaseEnded(const std::vector<JobDay>& jobs, int32_t day) {
  for (const JobDay& j : jobs) {
    if (source_.last_day(j.job) > day) continue;
    std::unique_ptr<JobState>& state = states_[j.job.value];
    EndJob(j.job, *state);
    const std::string& program = source_.jobs()[j.job.value].logical_name;
    const auto it = program.empty() ? latest_run_.end() : latest_run_.find(program);
    if (it == latest_run_.end() || it->second != j.job) state.reset();
  }
}

absl::Status ReplayRun::RunDay(const std::vector<JobDay>& jobs, int32_t day) {
  StartJobs(jobs);
  if (absl::Status s = TakeAnswers(jobs, day); !s.ok()) return s;
  if (outcomes_.size() < jobs.size()) outcomes_.resize(jobs.size());
  workers_.ForEach(jobs.size(), [&](size_t i) {
    runner_.RunDay(jobs[i], *states_[jobs[i].job.value], scratch_.local(), outcomes_[i]);
  });
  if (absl::Status s = Account(day, jobs.size()); !s.ok()) return s;
  // Release the jobs before the fleet models learn from this day. on_job_end explains a job's last decision, which
  // requires the models with which the decision was made.
  ReleaseEnded(jobs, day);
  UpdateFleet(day, jobs.size());
  return absl::OkStatus();
}

absl::StatusOr<ReplayResult> ReplayRun::Run() {
  if (source_.days().empty()) return absl::InvalidArgumentError("nothing to replay: the trace has no usage");
  PrepareResult();
  result_.first_day = source_.days().front();
  for (int32_t day : source_.days()) {
    if (hooks_.should_stop != nullptr && hooks_.should_stop()) {
      result_.partial = true;
      break;
    }
    absl::StatusOr<std::vector<JobDay>> jobs = source_.LoadDay(day);
    if (!jobs.ok()) return jobs.status();
    if (result_.days_done == 0) SetFirstScored(*jobs);
    if (absl::Status s = RunDay(*jobs, day); !s.ok()) return s;
    result_.last_day = day;
    ++result_.days_done;
    if (hooks_.on_progress != nullptr)
      hooks_.on_progress(result_.days_done, result_.days_total, result_.job_windows);
  }
  // After an interrupt, some jobs have not reached their last day. Report the end of these jobs now.
  for (uint32_t i = 0; i < states_.size() && result_.partial; ++i) {
    if (states_[i] != nullptr && source_.last_day(JobId{i}) > result_.last_day) EndJob(JobId{i}, *states_[i]);
  }
  if (states_measured_ > 0)
    result_.state_bytes_per_job = state_bytes_sum_ / static_cast<double>(states_measured_);
  return std::move(result_);
}

}  // namespace

absl::StatusOr<ReplayResult> Replay(DaySource& source, const ReplayOptions& options,
                                    const ReplayHooks& hooks) {
  if (options.policies.empty()) return absl::InvalidArgumentError("no recommender to replay");
  if (options.resources.empty()) return absl::InvalidArgumentError("no resource to replay");
  if (options.managed.has_value() && options.managed->mode == Mode::kObserve &&
      options.feedback == Feedback::kOomRestart) {
    return absl::InvalidArgumentError(
        "mode observe cannot be combined with feedback oom-restart: limits that are only shown cause no OOM "
        "kills");
  }
  return ReplayRun(source, options, hooks).Run();
}

}  // namespace taut::tools
