#include "brain/cell/compaction.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "brain/cell/pending_reason.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

// One trial: an order of the machines, and a test of whether the workload fits on the first n machines.
class TrialCell {
 public:
  TrialCell(const CellIndex& index, const CompactionOptions& options, uint64_t trial)
      : index_(index),
        options_(options.scheduler),
        rng_(Rng(options.seed).Fork(trial)),
        allowed_(static_cast<uint64_t>(options.pending_share * static_cast<double>(index.tasks()))) {
    options_.preempt = false;
    options_.seed = rng_.Next();
  }

  bool Fits(uint32_t n) {
    if (n == 0) return index_.tasks() <= allowed_;
    CellScheduler scheduler(index_, Machines(n), options_);
    scheduler.SubmitAll();
    return scheduler.Pass(allowed_).pending <= allowed_;
  }

  // Returns the smallest number of machines on which the workload fits; 0 if no number up to `most` suffices.
  uint32_t Needed(uint32_t most) {
    uint32_t fails = 0, fits = static_cast<uint32_t>(index_.model().machines.size());
    if (Fits(0)) return 0;
    while (!Fits(fits)) {
      if (fits >= most) return 0;
      fails = fits;
      fits = std::min(most, 2 * fits);
    }
    while (fits - fails > 1) {
      const uint32_t middle = fails + (fits - fails) / 2;
      (Fits(middle) ? fits : fails) = middle;
    }
    return fits;
  }

  // Returns the placement that Fits(n) computed.
  TrialPacking Packing(uint32_t n) {
    TrialPacking out;
    out.machine_of_task.assign(index_.tasks(), kNowhere);
    if (n == 0) return out;
    CellScheduler scheduler(index_, Machines(n), options_);
    scheduler.SubmitAll();
    scheduler.Pass(allowed_);
    out.machines.assign(order_.begin(), order_.begin() + n);
    for (uint32_t t = 0; t < index_.tasks(); ++t) out.machine_of_task[t] = scheduler.state().machine_of(t);
    return out;
  }

  std::string WhyNot(uint32_t n) {
    CellScheduler scheduler(index_, Machines(n), options_);
    scheduler.SubmitAll();
    const uint64_t pending = scheduler.Pass().pending;
    for (uint32_t j = 0; j < index_.model().jobs.size(); ++j) {
      if (scheduler.pending(j) == 0) continue;
      const std::string why = options_.loads != nullptr
                                  ? "What is expected of each machine's tasks with one of it is more than "
                                    "the machine has, or it may not run there."
                                  : ExplainPending(scheduler.scores(), j).sentence;
      return StrCat(pending, " of ", index_.tasks(), " tasks are pending, the first of job \"",
                    index_.model().jobs[j].name, "\". ", why);
    }
    return "";
  }

 private:
  // Returns the first n machines of the trial's order. Appends further copies of the cell as needed, so that the
  // order of earlier machines never depends on n.
  std::vector<uint32_t> Machines(uint32_t n) {
    const auto machines = static_cast<uint32_t>(index_.model().machines.size());
    while (order_.size() < n) {
      const size_t first = order_.size();
      for (uint32_t m = 0; m < machines; ++m) order_.push_back(m);
      for (size_t i = machines; i > 1; --i) std::swap(order_[first + i - 1], order_[first + rng_.Below(i)]);
    }
    return {order_.begin(), order_.begin() + n};
  }

  const CellIndex& index_;
  SchedulerOptions options_;
  Rng rng_;
  const uint64_t allowed_;
  std::vector<uint32_t> order_;
};

}  // namespace

uint64_t SoftenLargeJobs(CellModel& model) {
  const CellAmounts capacity = model.Capacity();
  uint64_t softened = 0;
  for (CellJob& job : model.jobs) {
    bool large = job.tasks > model.machines.size() / 2;
    for (size_t r = 0; r < model.resources.size(); ++r)
      large = large || static_cast<double>(job.limit[r]) * job.tasks > static_cast<double>(capacity[r]) / 2;
    const bool hard = !job.constraints.empty() || job.max_per_domain > 0 || job.max_per_machine > 0;
    if (!large || !hard || job.soft) continue;
    job.soft = true;
    ++softened;
  }
  return softened;
}

void RemoveImpossibleJobs(CellModel& model) {
  std::erase_if(model.jobs, [&](const CellJob& job) {
    const CellAmounts& need = IsProduction(job.tier) ? job.limit : job.reservation;
    return std::ranges::none_of(model.machines, [&](const CellMachine& m) {
      for (size_t r = 0; r < kMaxCellResources; ++r) {
        if (need[r] > m.capacity[r]) return false;
      }
      return job.soft || MeetsConstraints(m, job.constraints);
    });
  });
}

uint32_t NearestRank(std::vector<uint32_t> values, double share) {
  std::ranges::sort(values);
  const double rank = std::ceil(share * static_cast<double>(values.size()) - 1e-9);
  return values[static_cast<size_t>(std::clamp(rank, 1.0, static_cast<double>(values.size()))) - 1];
}

absl::Status CheckCompaction(const CellModel& model, const CompactionOptions& o) {
  if (model.machines.empty()) return absl::InvalidArgumentError("the cell has no machines");
  if (o.trials < 1 || o.trials > 1000)
    return absl::InvalidArgumentError(StrCat("invalid number of trials ", o.trials, ": expected 1 to 1000"));
  if (!(o.pending_share >= 0 && o.pending_share < 1))
    return absl::InvalidArgumentError(
        StrCat("invalid share of pending tasks ", o.pending_share, ": expected 0 to less than 1"));
  if (!(o.percentile > 0 && o.percentile <= 1))
    return absl::InvalidArgumentError(
        StrCat("invalid percentile ", o.percentile, ": expected more than 0, up to 1"));
  if (o.most_copies < 1 || o.most_copies > 100'000)
    return absl::InvalidArgumentError(
        StrCat("invalid number of copies ", o.most_copies, ": expected 1 to 100000"));
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> CompactionTrial(const CellIndex& index, const CompactionOptions& options,
                                         uint32_t trial) {
  const uint64_t machines = index.model().machines.size();
  const auto most =
      static_cast<uint32_t>(std::min<uint64_t>(uint64_t{options.most_copies} * machines, uint64_t{1} << 30));
  TrialCell cell(index, options, trial);
  const uint32_t needed = cell.Needed(most);
  if (needed > 0 || cell.Fits(0)) return needed;
  return absl::FailedPreconditionError(
      StrCat("the workload does not fit into ", most, " machines: ", cell.WhyNot(most)));
}

TrialPacking PackTrial(const CellIndex& index, const CompactionOptions& options, uint32_t trial,
                       uint32_t machines) {
  return TrialCell(index, options, trial).Packing(machines);
}

std::string WhyNotFewer(const CellIndex& index, const CompactionOptions& options, uint32_t trial,
                        uint32_t machines) {
  if (machines == 0) return "";
  TrialCell cell(index, options, trial);
  return cell.Fits(machines) ? "" : cell.WhyNot(machines);
}

void Summarize(double percentile, CompactionResult& result) {
  result.min = std::ranges::min(result.trials);
  result.max = std::ranges::max(result.trials);
  result.needed = NearestRank(result.trials, percentile);
}

absl::StatusOr<CompactionResult> CompactCell(const CellModel& original, const CompactionOptions& options) {
  if (absl::Status s = CheckCompaction(original, options); !s.ok()) return s;
  CellModel model = original;
  CompactionResult result;
  result.softened = SoftenLargeJobs(model);
  const CellIndex index(model);
  result.tasks = index.tasks();
  for (uint32_t i = 0; i < options.trials; ++i) {
    const absl::StatusOr<uint32_t> needed = CompactionTrial(index, options, i);
    if (!needed.ok()) return needed.status();
    result.trials.push_back(*needed);
  }
  Summarize(options.percentile, result);
  return result;
}

}  // namespace taut::brain
