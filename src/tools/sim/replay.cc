#include "tools/sim/replay.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/worker_pool.h"
#include "oneapi/tbb/enumerable_thread_specific.h"
#include "tools/sim/job_runner.h"
#include "tools/sim/replay_sums.h"

namespace taut::tools {
namespace {

constexpr uint8_t kStateVersion = 1;

// Returns a result with the lanes of the options and without days.
ReplayResult EmptyResult(const ReplayOptions& options) {
  ReplayResult result;
  for (const brain::PolicyPair p : options.policies) {
    for (const Resource r : options.resources) {
      LaneResult& lane = result.lanes.emplace_back();
      lane.policy = p;
      lane.resource = r;
    }
  }
  result.capped_at_owner = options.cap_at_owner;
  return result;
}

// The state of one call of Replay().
class ReplayRun {
 public:
  // `part`: null if the source has the whole fleet.
  ReplayRun(DaySource& source, const ReplayOptions& options, const ReplayHooks& hooks,
            const FleetPart* part = nullptr)
      : source_(source),
        options_(options),
        hooks_(hooks),
        part_(part),
        runner_(options),
        workers_(options.threads),
        sums_(options.policies.size() * options.resources.size()) {
    for (size_t i = 0; i < options.policies.size(); ++i) {
      fleets_.push_back(std::make_unique<brain::FleetModels>(options.settings));
    }
  }

  absl::StatusOr<ReplayResult> Run();
  const ReplaySums& sums() const { return sums_; }

 private:
  const std::vector<int32_t>& days() const { return part_ != nullptr ? part_->days : source_.days(); }
  absl::Status RunDay(const std::vector<JobDay>& jobs, int32_t day);
  void StartJobs(const std::vector<JobDay>& jobs);
  absl::Status TakeAnswers(const std::vector<JobDay>& jobs, int32_t day);
  absl::Status Account(int32_t day, size_t num_jobs);
  absl::Status UpdateFleet(int32_t day, size_t num_jobs);
  void ReleaseEnded(const std::vector<JobDay>& jobs, int32_t day);
  void EndJob(JobId job, const JobState& state);
  void PrepareResult();
  // Returns the state between two days, as bytes.
  std::string Saved() const;
  // Restores a state that Saved() returned.
  absl::Status Resume(std::string_view state);
  absl::Status Checkpoint(int32_t day) const;
  void SetFirstScored(const std::vector<JobDay>& jobs);

  DaySource& source_;
  const ReplayOptions& options_;
  const ReplayHooks& hooks_;
  const FleetPart* part_;
  JobRunner runner_;
  // Fleet models, one per policy, because a policy must not learn from another policy's limits.
  std::vector<std::unique_ptr<brain::FleetModels>> fleets_;
  WorkerPool workers_;
  tbb::enumerable_thread_specific<RunnerScratch> scratch_;
  // States by JobId; null before the job's first day and after its last day.
  std::vector<std::unique_ptr<JobState>> states_;
  absl::flat_hash_map<std::string, JobId> latest_run_;  // latest run of each program, by its logical name
  std::vector<JobDayOutcome> outcomes_;                 // outcomes of the current day, one per job
  ReplaySums sums_;
  ReplayResult result_;
};

void ReplayRun::PrepareResult() {
  result_ = EmptyResult(options_);
  for (LaneResult& lane : result_.lanes) lane.per_job.resize(source_.jobs().size());
  result_.jobs = source_.jobs().size();
  result_.days_total = days().size();
  result_.first_day = days().front();
  states_.resize(source_.jobs().size());
}

void ReplayRun::SetFirstScored(const std::vector<JobDay>& jobs) {
  int64_t first_s = part_ != nullptr ? part_->first_s : INT64_MAX;
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
    if (state == nullptr) {
      state = runner_.NewState(info, fleets_);
      state->made_for = j.job;
    }
    state->key = brain::JobKey(info.name);
  }
}

// Passes the answers for the day to the recommenders. Ignores answers for jobs without a state.
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
  sums_.BeginDay(day);
  for (size_t i = 0; i < num_jobs; ++i) {
    const JobDayOutcome& out = outcomes_[i];
    sums_.Add(out, scored);
    for (size_t l = 0; l < out.scores.size() && scored; ++l)
      result_.lanes[l].per_job[out.job.value].Add(out.scores[l]);
    if (hooks_.on_change == nullptr) continue;
    for (const LimitChange& change : out.changes) {
      if (absl::Status s = hooks_.on_change(change); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

absl::Status ReplayRun::UpdateFleet(int32_t day, size_t num_jobs) {
  FleetShares shares(fleets_.size());
  for (size_t p = 0; p < fleets_.size(); ++p) {
    for (const Resource r : kResources) shares[p].push_back(fleets_[p]->NewShare(r, day));
  }
  // The models are independent, so they learn in parallel.
  workers_.ForEach(kNumResources * fleets_.size(), [&](size_t i) {
    brain::FleetShare& share = shares[i / kNumResources][i % kNumResources];
    for (size_t j = 0; j < num_jobs; ++j) share.Add(outcomes_[j].rows[i / kNumResources][i % kNumResources]);
  });
  if (part_ != nullptr && part_->exchange != nullptr) {
    absl::StatusOr<FleetShares> merged = part_->exchange(day, std::move(shares));
    if (!merged.ok()) return merged.status();
    shares = *std::move(merged);
  }
  workers_.ForEach(kNumResources * fleets_.size(), [&](size_t i) {
    fleets_[i / kNumResources]->CloseDay(kResources[i % kNumResources],
                                         std::move(shares[i / kNumResources][i % kNumResources]));
  });
  return absl::OkStatus();
}

void ReplayRun::EndJob(JobId job, const JobState& state) {
  sums_.AddEnded();
  for (size_t w = 0; w < state.worlds.size(); ++w) {
    for (size_t i = 0; i < state.worlds[w].lanes.size(); ++i) {
      const brain::Lane& lane = state.worlds[w].lanes[i].lane;
      sums_.AddState(lane.recommender().state_bytes());
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
  return UpdateFleet(day, jobs.size());
}

std::string ReplayRun::Saved() const {
  std::string bytes;
  ByteWriter out(&bytes);
  out.Put(kStateVersion);
  sums_.Save(result_, out);
  for (const auto& fleet : fleets_) fleet->Save(out);
  out.PutVarint(states_.size());
  for (uint32_t job = 0; job < states_.size(); ++job) {
    for (const LaneResult& lane : result_.lanes) lane.per_job[job].Save(out);
    out.Put(static_cast<uint8_t>(states_[job] != nullptr));
    if (states_[job] == nullptr) continue;
    out.PutVarint(states_[job]->made_for.value);
    JobRunner::Save(*states_[job], out);
  }
  out.PutVarint(latest_run_.size());
  for (const auto& [program, job] : latest_run_) {
    out.PutString(program);
    out.PutVarint(job.value);
  }
  return bytes;
}

absl::Status ReplayRun::Resume(std::string_view state) {
  const absl::Status damaged =
      absl::DataLossError("a damaged checkpoint of a replay, or one of another replay");
  ByteReader in(state);
  if (in.Get<uint8_t>() != kStateVersion)
    return absl::InvalidArgumentError("a checkpoint of a replay by another version of the program");
  if (absl::Status s = sums_.Load(in, result_.lanes.size()); !s.ok()) return s;
  const LoadedFigures figures = sums_.GoOn();
  result_.first_scored_s = figures.first_scored_s;
  result_.first_scored_day = figures.first_scored_day;
  result_.last_day = sums_.days().back();
  result_.days_done = sums_.days().size();
  for (const auto& fleet : fleets_) {
    if (absl::Status s = fleet->Load(in); !s.ok()) return s;
  }
  if (in.GetVarint() != states_.size()) return damaged;
  for (uint32_t job = 0; job < states_.size(); ++job) {
    for (LaneResult& lane : result_.lanes) lane.per_job[job].Load(in);
    if (in.Get<uint8_t>() == 0) continue;
    const uint64_t made_for = in.GetVarint();
    if (made_for >= states_.size()) return damaged;
    states_[job] = runner_.NewState(source_.jobs()[made_for], fleets_);
    states_[job]->made_for = JobId{static_cast<uint32_t>(made_for)};
    states_[job]->key = brain::JobKey(source_.jobs()[job].name);
    if (absl::Status s = runner_.Load(in, *states_[job]); !s.ok()) return s;
  }
  const uint64_t programs = in.GetVarint();
  for (uint64_t i = 0; i < programs && !in.failed(); ++i) {
    std::string program(in.GetString());
    const uint64_t job = in.GetVarint();
    if (job >= states_.size()) return damaged;
    latest_run_[std::move(program)] = JobId{static_cast<uint32_t>(job)};
  }
  if (in.failed() || result_.days_done > days().size()) return damaged;
  return absl::OkStatus();
}

absl::Status ReplayRun::Checkpoint(int32_t day) const {
  const bool is_due = part_ != nullptr && part_->on_checkpoint != nullptr && part_->checkpoint_days > 0 &&
                      result_.days_done % static_cast<uint64_t>(part_->checkpoint_days) == 0 &&
                      result_.days_done < days().size();
  return is_due ? part_->on_checkpoint(day, Saved()) : absl::OkStatus();
}

absl::StatusOr<ReplayResult> ReplayRun::Run() {
  if (days().empty()) return absl::InvalidArgumentError("nothing to replay: the trace has no usage");
  PrepareResult();
  if (part_ != nullptr && !part_->resume.empty()) {
    if (absl::Status s = Resume(part_->resume); !s.ok()) return s;
  }
  for (const int32_t day : std::span(days()).subspan(result_.days_done)) {
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
    if (absl::Status s = Checkpoint(day); !s.ok()) return s;
    if (hooks_.on_progress != nullptr)
      hooks_.on_progress(result_.days_done, result_.days_total, sums_.job_windows());
  }
  // After an interrupt, some jobs have not reached their last day. Report the end of these jobs now.
  for (uint32_t i = 0; i < states_.size() && result_.partial; ++i) {
    if (states_[i] != nullptr && source_.last_day(JobId{i}) > result_.last_day) EndJob(JobId{i}, *states_[i]);
  }
  sums_.WriteTo(result_);
  return std::move(result_);
}

absl::Status Check(const ReplayOptions& options) {
  if (options.policies.empty()) return absl::InvalidArgumentError("no recommender to replay");
  if (options.resources.empty()) return absl::InvalidArgumentError("no resource to replay");
  if (options.managed.has_value() && options.managed->mode == Mode::kObserve &&
      options.feedback == Feedback::kOomRestart) {
    return absl::InvalidArgumentError(
        "mode observe cannot be combined with feedback oom-restart: limits that are only shown cause no OOM "
        "kills");
  }
  return absl::OkStatus();
}

}  // namespace

std::string SaveShares(const FleetShares& shares) {
  std::string bytes;
  ByteWriter out(&bytes);
  for (const auto& of_policy : shares) {
    for (const brain::FleetShare& share : of_policy) share.Save(out);
  }
  return bytes;
}

absl::StatusOr<FleetShares> MergeShares(const ReplayOptions& options, int32_t day,
                                        const std::vector<std::string>& parts) {
  const brain::FleetShare empty(day, options.settings.analogs, options.settings.boosted);
  FleetShares merged(options.policies.size(), std::vector(kNumResources, empty));
  for (const std::string& part : parts) {
    ByteReader in(part);
    for (auto& of_policy : merged) {
      for (brain::FleetShare& share : of_policy) {
        brain::FleetShare read = empty;
        if (!read.Load(in)) return absl::DataLossError("a damaged share of a part of the fleet");
        share.Merge(read);
      }
    }
    if (in.remaining() > 0) return absl::DataLossError("a share of a part of another replay");
  }
  return merged;
}

absl::StatusOr<ReplayResult> Replay(DaySource& source, const ReplayOptions& options,
                                    const ReplayHooks& hooks) {
  if (absl::Status s = Check(options); !s.ok()) return s;
  return ReplayRun(source, options, hooks).Run();
}

absl::StatusOr<PartResult> ReplayPart(DaySource& source, const ReplayOptions& options,
                                      const ReplayHooks& hooks, const FleetPart& part) {
  if (absl::Status s = Check(options); !s.ok()) return s;
  ReplayRun run(source, options, hooks, &part);
  absl::StatusOr<ReplayResult> result = run.Run();
  if (!result.ok()) return result.status();
  PartResult out{*std::move(result), ""};
  ByteWriter writer(&out.sums);
  run.sums().Save(out.result, writer);
  return out;
}

absl::StatusOr<ReplayResult> MergeParts(const ReplayOptions& options, const std::vector<std::string>& sums) {
  if (absl::Status s = Check(options); !s.ok()) return s;
  if (sums.empty()) return absl::InvalidArgumentError("no parts to merge");
  ReplayResult result = EmptyResult(options);
  ReplaySums merged;
  for (size_t i = 0; i < sums.size(); ++i) {
    ByteReader in(sums[i]);
    ReplaySums part;
    if (absl::Status s = part.Load(in, result.lanes.size()); !s.ok()) return s;
    if (i == 0) {
      merged = std::move(part);
    } else if (absl::Status s = merged.Merge(part); !s.ok()) {
      return s;
    }
  }
  merged.WriteTo(result);
  return result;
}

}  // namespace taut::tools
