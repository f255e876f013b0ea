#include "tools/sim/cell_runs.h"

#include <algorithm>
#include <mutex>

#include "common/base/row_named.h"
#include "common/base/strings.h"
#include "common/base/worker_pool.h"
#include "tools/sim/cell_autoscaler.h"

namespace taut::tools {
namespace {

bool IsLimit(brain::CellEventKind kind) { return kind == brain::CellEventKind::kLimit; }

template <brain::CellScore kScore>
void UseScore(brain::CellSimulationOptions& options) {
  options.scheduler.scoring.score = kScore;
}

brain::CellTotals RunOne(const brain::CellModel& model, const brain::CellWorkload& workload,
                         const CellSetup& setup, brain::CellSimulationOptions options,
                         brain::CellSimulationHooks hooks) {
  if (setup.change != nullptr) setup.change(options);
  std::optional<CellLimits> limits;
  if (setup.limits.has_value())
    hooks.autoscaler = &limits.emplace(model, workload, *setup.limits, options.seed);
  if (setup.leaves_out == nullptr)
    return brain::CellSimulation(model, workload, options, std::move(hooks)).Run();
  brain::CellWorkload less = workload;
  std::erase_if(less.events, [&](const brain::CellEvent& e) { return setup.leaves_out(e.kind); });
  return brain::CellSimulation(model, less, options, std::move(hooks)).Run();
}

}  // namespace

const std::vector<CellSetup>& CellSetups() {
  static const std::vector<CellSetup> kAll = {
      {"base", "the cell as it is", nullptr, nullptr},
      {"best-fit", "scores by best fit", nullptr, UseScore<brain::CellScore::kBestFit>},
      {"worst-fit", "scores by worst fit (E-PVM)", nullptr, UseScore<brain::CellScore::kWorstFit>},
      {"hybrid", "scores by best fit with little stranded", nullptr, UseScore<brain::CellScore::kHybrid>},
      {"no-reclamation", "a running task's limit stays reserved", nullptr,
       [](brain::CellSimulationOptions& o) { o.reclaim = false; }},
      {"no-preemption", "no task loses its machine to one of a higher tier", nullptr,
       [](brain::CellSimulationOptions& o) { o.scheduler.preempt = false; }},
      {"owner-limits", "no autoscaler: limits stay what jobs were submitted with", IsLimit, nullptr},
      {"peak", "a recommender sets the limits of services by their usage: peak", IsLimit, nullptr,
       brain::Policy::kPeak},
      {"moving-window", "the same with moving_window", IsLimit, nullptr, brain::Policy::kMovingWindow},
      {"ensemble", "the same with ensemble", IsLimit, nullptr, brain::Policy::kEnsemble},
      {"vpa", "the same with vpa", IsLimit, nullptr, brain::Policy::kVpa},
      {"no-failures", "no machine fails or is drained",
       [](brain::CellEventKind kind) {
         return kind == brain::CellEventKind::kFail || kind == brain::CellEventKind::kDrain ||
                kind == brain::CellEventKind::kReturn;
       },
       nullptr},
  };
  return kAll;
}

absl::StatusOr<const CellSetup*> CellSetupByName(std::string_view name) {
  return RowNamed("setup", CellSetups(), name);
}

absl::StatusOr<std::vector<CellRun>> RunCells(const brain::CellModel& model,
                                              const brain::CellWorkload& workload,
                                              const CellRunsOptions& options, const CellRunsHooks& hooks) {
  if (absl::Status s = brain::CheckCellSimulation(options.simulation); !s.ok()) return s;
  std::vector<CellRun> runs = {{&CellSetups().front(), {}}};
  for (const CellSetup* setup : options.setups) {
    if (std::ranges::find(runs, setup, &CellRun::setup) == runs.end()) runs.push_back({setup, {}});
  }
  std::mutex mutex;
  std::vector<double> shares(runs.size());
  WorkerPool workers(options.threads);
  workers.ForEach(runs.size(), [&](size_t i) {
    brain::CellSimulationHooks one;
    if (i == 0) one.on_step = hooks.on_step;
    one.should_stop = [&, i](double share) {
      // The runs call this function from their own threads. The lock serializes the calls of on_progress.
      const std::lock_guard lock(mutex);
      shares[i] = share;
      double sum = 0;
      for (const double s : shares) sum += s;
      if (hooks.on_progress) hooks.on_progress(sum / static_cast<double>(shares.size()));
      return hooks.should_stop && hooks.should_stop();
    };
    runs[i].totals = RunOne(model, workload, *runs[i].setup, options.simulation, std::move(one));
  });
  return runs;
}

}  // namespace taut::tools
