#include "brain/cell/made_cell.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "common/base/byte_units.h"
#include "common/base/random.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

struct MadeShape {
  int64_t cores, gib;
  double share;
};
constexpr MadeShape kShapes[] = {
    {16, 64, 0.35}, {32, 128, 0.30}, {32, 64, 0.15}, {64, 256, 0.12}, {48, 384, 0.08}};
constexpr uint32_t kZones = 4, kRackMachines = 40;
constexpr double kProductionTasks = 0.4;  // share of production among the tasks
constexpr double kSmallTasks = 0.2, kSmallCores = 0.1;
constexpr double kCpuSigma = 1.2, kMixSigma = 0.6;  // standard deviations of logarithms
constexpr double kJobAlpha = 0.9;                   // exponent of the distribution of tasks per job
constexpr int64_t kMiBBytes = int64_t{1} << 20;

class CellMaker {
 public:
  explicit CellMaker(const MadeCellOptions& options) : o_(options), rng_(options.seed) {}

  CellModel Make() {
    cell_.resources = CpuAndMemory();
    platform_ = cell_.names.Number("platform");
    zone_ = cell_.names.Number("zone");
    rack_ = cell_.names.Number("rack");
    for (uint32_t m = 0; m < o_.machines; ++m) AddMachine(m);
    capacity_ = cell_.Capacity();
    const double tasks = o_.tasks_per_machine * o_.machines;
    AddJobs(true, o_.production_cpu, kProductionTasks * tasks);
    AddJobs(false, o_.other_cpu * o_.other_times, (1 - kProductionTasks) * tasks * o_.other_times);
    // Shuffles the jobs, because otherwise all production jobs would be first.
    for (size_t i = cell_.jobs.size(); i > 1; --i) std::swap(cell_.jobs[i - 1], cell_.jobs[rng_.Below(i)]);
    return std::move(cell_);
  }

 private:
  void AddMachine(uint32_t m) {
    double at = rng_.Uniform();
    size_t s = 0;
    while (s + 1 < std::size(kShapes) && at >= kShapes[s].share) at -= kShapes[s++].share;
    CellMachine machine{.name = StrCat("m", m), .capacity = {}, .attributes = {}};
    machine.capacity[kCellCpu] = kShapes[s].cores * 1000;
    machine.capacity[kCellMemory] = kShapes[s].gib * 1024 * kMiBBytes;
    const uint32_t rack = m / kRackMachines;
    machine.attributes = {{platform_, cell_.names.Number(StrCat("p", s))},
                          {zone_, cell_.names.Number(StrCat("z", rack % kZones))},
                          {rack_, cell_.names.Number(StrCat("r", rack))}};
    cell_.machines.push_back(std::move(machine));
  }

  void AddJobs(bool production, double cpu_share, double tasks) {
    const double total = cpu_share * static_cast<double>(capacity_[kCellCpu]);
    const double mean = total / tasks / (production ? 1 : 1 - kSmallTasks),
                 median = mean * std::exp(-kCpuSigma * kCpuSigma / 2);
    for (double cpu = 0; cpu < total;) {
      CellJob job = MakeJob(production, median);
      const double each = static_cast<double>(job.limit[kCellCpu]);
      job.tasks = static_cast<uint32_t>(std::clamp((total - cpu) / each + 1, 1.0, 1.0 * job.tasks));
      cpu += each * job.tasks;
      job.name = StrCat(production ? "prod-" : "other-", cell_.jobs.size());
      cell_.jobs.push_back(std::move(job));
    }
  }

  CellJob MakeJob(bool production, double median_millicores) {
    CellJob job;
    job.user = StrCat("u", static_cast<int>(o_.users * std::pow(rng_.Uniform(), 2.5)));
    job.tasks = static_cast<uint32_t>(std::min(rng_.Pareto(1, kJobAlpha), std::max(1.0, o_.machines / 10.0)));
    job.tier = TierOf(production);
    double cpu = median_millicores * std::exp(kCpuSigma * rng_.Normal());
    // Compares production's share of the tasks so far, not its share of the jobs, because a few large jobs have
    // most of the tasks.
    if (!production) {
      others_ += job.tasks;
      if (smalls_ + job.tasks <= kSmallTasks * others_) {
        cpu = 1000 * kSmallCores * rng_.Uniform(0.1, 1);
        smalls_ += job.tasks;
      }
    }
    const double ratio =
        static_cast<double>(capacity_[kCellMemory]) / static_cast<double>(capacity_[kCellCpu]);
    const double memory =
        0.85 * cpu * ratio * std::exp(kMixSigma * rng_.Normal() - kMixSigma * kMixSigma / 2);
    job.limit[kCellCpu] = static_cast<int64_t>(std::clamp(cpu, 10.0, 28'000.0));
    job.limit[kCellMemory] =
        static_cast<int64_t>(std::clamp(memory, 16 * kMiB, 112 * kGiB)) / kMiBBytes * kMiBBytes;
    const double reserved = production ? o_.production_reserved : o_.other_reserved;
    for (const size_t r : {kCellCpu, kCellMemory}) {
      const double share = std::min(1.0, reserved * rng_.Uniform(0.67, 1.33));
      job.reservation[r] = static_cast<int64_t>(share * static_cast<double>(job.limit[r]));
    }
    AddConstraints(production, job);
    return job;
  }

  CellTier TierOf(bool production) {
    const double u = rng_.Uniform();
    if (production) return u < 0.05 ? CellTier::kMonitoring : CellTier::kProduction;
    return u < 0.15 ? CellTier::kMid : u < 0.75 ? CellTier::kBatch : CellTier::kFree;
  }

  void AddConstraints(bool production, CellJob& job) {
    const uint32_t racks = std::max(1U, o_.machines / kRackMachines);
    if (rng_.Uniform() < o_.constrained) {
      if (rng_.Uniform() < 0.5) {
        job.constraints.push_back(
            {zone_, {cell_.names.Number(StrCat("z", rng_.Below(std::min(kZones, racks))))}});
      } else {
        // The constraint allows all platforms but one. In a cell with more than a few machines, some machine has
        // an allowed platform.
        const uint64_t without = rng_.Below(std::size(kShapes));
        CellConstraint c{platform_, {}};
        for (uint64_t s = 0; s < std::size(kShapes); ++s) {
          if (s != without) c.values.push_back(cell_.names.Number(StrCat("p", s)));
        }
        job.constraints.push_back(std::move(c));
      }
    }
    if (production && job.tasks > 1 && rng_.Uniform() < o_.spread) {
      job.spread_key = rack_;
      job.max_per_domain = 2 + 4 * job.tasks / racks;
    }
    if (production && job.tasks > 1 && job.tasks < 20 && rng_.Uniform() < 0.1) job.max_per_machine = 1;
    if (!production && job.tasks < 20 && rng_.Uniform() < 0.02) job.gang = true;
  }

  const MadeCellOptions o_;
  Rng rng_;
  CellModel cell_;
  CellAmounts capacity_ = {};
  double others_ = 0, smalls_ = 0;  // number of tasks outside production; number of small tasks among them
  uint32_t platform_ = 0, zone_ = 0, rack_ = 0;
};

}  // namespace

CellModel MakeCell(const MadeCellOptions& options) { return CellMaker(options).Make(); }

}  // namespace taut::brain
