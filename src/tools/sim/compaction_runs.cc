#include "tools/sim/compaction_runs.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "brain/cell/pending_reason.h"
#include "common/base/strings.h"
#include "common/base/worker_pool.h"

namespace taut::tools {
namespace {

// Returns a text such as "j: Of 4 machines ..." about the first job with a pending task; "" if no task is pending.
std::string FirstPending(brain::CellScheduler& scheduler, const brain::CellModel& model) {
  for (uint32_t j = 0; j < model.jobs.size(); ++j) {
    if (scheduler.pending(j) > 0)
      return StrCat(model.jobs[j].name, ": ", brain::ExplainPending(scheduler.scores(), j).sentence);
  }
  return "";
}

PackedCell Pack(const brain::CellModel& cell, const brain::SchedulerOptions& options) {
  const brain::CellIndex index(cell);
  brain::CellScheduler scheduler(index, options);
  scheduler.SubmitAll();
  PackedCell out;
  out.pending = scheduler.Pass().pending;
  out.why = FirstPending(scheduler, cell);
  return out;
}

class Runner {
 public:
  Runner(const brain::CellModel& cell, const CompactionRunsOptions& options, const CompactionRunsHooks& hooks)
      : cell_(cell), options_(options), hooks_(hooks), workers_(options.threads) {
    const brain::CellExperiment* base = &brain::CellExperiments().front();
    experiments_.push_back(base);
    for (const brain::CellExperiment* e : options.experiments) {
      if (std::ranges::find(experiments_, e) == experiments_.end()) experiments_.push_back(e);
    }
  }

  absl::StatusOr<CompactionRuns> Run() {
    if (absl::Status s = brain::CheckCompaction(cell_, options_.compaction); !s.ok()) return s;
    CompactionRuns out;
    brain::SchedulerOptions scheduler = options_.compaction.scheduler;
    scheduler.scoring = options_.variant.scoring;
    // Pack the whole cell before impossible jobs are removed, so that the pending tasks include those jobs.
    out.packed = Pack(cell_, scheduler);
    const uint64_t jobs = cell_.jobs.size(), tasks = cell_.tasks();
    out.softened = brain::SoftenLargeJobs(cell_);
    brain::RemoveImpossibleJobs(cell_);
    out.impossible_jobs = jobs - cell_.jobs.size();
    out.impossible_tasks = tasks - cell_.tasks();
    for (at_ = 0; at_ < experiments_.size(); ++at_) {
      CompactionRun run;
      run.experiment = experiments_[at_];
      const absl::Status done = RunOne(run);
      if (stopped_) break;
      // If an experiment does not fit the cell, report it as not run. The base must fit.
      if (!done.ok() && (at_ == 0 || !absl::IsFailedPrecondition(done))) return done;
      if (!done.ok()) run.not_run = Message(done);
      out.runs.push_back(std::move(run));
    }
    out.partial = stopped_;
    if (!out.runs.empty()) out.one_less = OneLess(out.runs.front().result);
    return out;
  }

 private:
  // A part of a cell with an index, which all trials of the part share.
  struct Part {
    explicit Part(brain::CellModel m) : model(std::move(m)), index(model) {}
    brain::CellModel model;
    brain::CellIndex index;
  };

  absl::Status RunOne(CompactionRun& run) {
    absl::StatusOr<brain::CellVariant> variant = run.experiment->make(cell_, options_.variant);
    if (!variant.ok()) return variant.status();
    brain::CompactionOptions compaction = options_.compaction;
    compaction.scheduler.scoring = variant->scoring;
    compaction.scheduler.loads = variant->loads.get();
    std::vector<std::unique_ptr<Part>> parts;
    for (brain::CellModel& model : variant->parts) parts.push_back(std::make_unique<Part>(std::move(model)));
    // A turn packs one trial of one part, so an experiment with many parts and few trials still occupies all
    // threads.
    const size_t trials = compaction.trials, turns = trials * parts.size();
    std::vector<absl::StatusOr<uint32_t>> needed(turns, absl::StatusOr<uint32_t>(0U));
    size_t done = 0;
    workers_.ForEach(turns, [&](size_t i) {
      if (Stop()) return;
      needed[i] =
          brain::CompactionTrial(parts[i / trials]->index, compaction, static_cast<uint32_t>(i % trials));
      Progress(done, turns, run);
    });
    run.cells = static_cast<uint32_t>(parts.size());
    run.left_out = variant->left_out;
    run.cut_to_machine = variant->cut_to_machine;
    run.result.trials.resize(trials);
    for (size_t i = 0; i < turns; ++i) {
      if (!needed[i].ok()) return needed[i].status();
      // Parts share no machines, so the machines of a trial are the sum over its parts.
      run.result.trials[i % trials] += *needed[i];
    }
    for (const auto& part : parts) run.result.tasks += part->index.tasks();
    brain::Summarize(compaction.percentile, run.result);
    if (hooks_.on_packing && !stopped_) TellPackings(run, parts, compaction, needed);
    return absl::OkStatus();
  }

  void TellPackings(const CompactionRun& run, const std::vector<std::unique_ptr<Part>>& parts,
                    const brain::CompactionOptions& compaction,
                    const std::vector<absl::StatusOr<uint32_t>>& needed) {
    const size_t trials = compaction.trials;
    std::vector<brain::TrialPacking> packings(needed.size());
    workers_.ForEach(needed.size(), [&](size_t i) {
      packings[i] = brain::PackTrial(parts[i / trials]->index, compaction, static_cast<uint32_t>(i % trials),
                                     *needed[i]);
    });
    for (size_t i = 0; i < packings.size(); ++i)
      hooks_.on_packing(run, parts[i / trials]->model, static_cast<uint32_t>(i % trials),
                        std::move(packings[i]));
  }

  bool Stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = stopped_ || (hooks_.should_stop && hooks_.should_stop());
    return stopped_;
  }
  void Progress(size_t& done, size_t turns, const CompactionRun& run) {
    const std::lock_guard lock(mutex_);
    ++done;
    if (!hooks_.on_progress) return;
    const double share = static_cast<double>(done) / static_cast<double>(turns);
    hooks_.on_progress(run.experiment->name,
                       (static_cast<double>(at_) + share) / static_cast<double>(experiments_.size()));
  }

  std::string OneLess(const brain::CompactionResult& base) {
    const auto trial = std::ranges::find(base.trials, base.needed) - base.trials.begin();
    const brain::CellIndex index(cell_);
    brain::CompactionOptions compaction = options_.compaction;
    compaction.scheduler.scoring = options_.variant.scoring;
    return base.needed == 0
               ? ""
               : brain::WhyNotFewer(index, compaction, static_cast<uint32_t>(trial), base.needed - 1);
  }

  brain::CellModel cell_;
  const CompactionRunsOptions& options_;
  const CompactionRunsHooks& hooks_;
  WorkerPool workers_;
  std::vector<const brain::CellExperiment*> experiments_;
  size_t at_ = 0;  // index of the running experiment
  std::mutex mutex_;
  bool stopped_ = false;
};

}  // namespace

absl::StatusOr<CompactionRuns> RunCompactions(const brain::CellModel& cell,
                                              const CompactionRunsOptions& options,
                                              const CompactionRunsHooks& hooks) {
  return Runner(cell, options, hooks).Run();
}

}  // namespace taut::tools
