#include "server/pool/cell_capacity.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "server/pool/known.h"

namespace taut::server {
namespace {

// Time without a measurement after which a job's usage is 0. Until then, the last usage is counted.
constexpr int64_t kGoneAfterSeconds = 900;
// Minimum share of the capacity that is on measured machines. Below this share, the usage is unknown.
constexpr double kMeasuredShare = 0.5;
constexpr std::string_view kSourceNames[] = {"none", "machines", "pool"};

class CellCapacityMaker {
 public:
  explicit CellCapacityMaker(const CapacityInput& input) : input_(input), tiers_(input.tiers.tiers().size()) {
    out_.window = *input.fleet.window;
  }

  CellCapacity Make() {
    if (input_.machines != nullptr && AddMachines()) {
      out_.source = CapacitySource::kMachines;
    } else {
      AddFleet();
      if (input_.pool != nullptr) {
        out_.source = CapacitySource::kPool;
        if (input_.pool->cores > 0) out_.amounts(Resource::kCpu).capacity = input_.pool->cores;
        if (input_.pool->memory_bytes > 0)
          out_.amounts(Resource::kMemory).capacity = input_.pool->memory_bytes;
      }
    }
    AddQuota();
    return std::move(out_);
  }

 private:
  // Sums over machines. Only one of several machines with the same name counts.
  struct Sum {
    double capacity = 0, measured = 0, allocation = 0, usage = 0, forecast = 0;
    std::vector<double> use, allocated;
  };

  size_t TierOf(const JobRecord& job) {
    JobTiers::Found found = input_.tiers.Of(job, input_.scheme);
    if (found.unknown.empty()) return found.tier;
    ++out_.jobs_of_unknown_tier;
    if (out_.unknown_tier.empty()) out_.unknown_tier = std::move(found.unknown);
    return found.tier;
  }

  // Returns the tier of a job by name, because tasks of machines contain only the names of their jobs.
  size_t TierOfName(const std::string& job) {
    const auto known = tier_of_name_.find(job);
    if (known != tier_of_name_.end()) return known->second;
    size_t tier = 0;
    if (JobTiers::ByLabels(input_.scheme)) {
      if (records_.empty()) {
        for (const JobView& view : input_.fleet.jobs) {
          if (view.record != nullptr) records_.emplace(view.record->name, view.record.get());
        }
      }
      const auto record = records_.find(job);
      if (record != records_.end()) tier = TierOf(*record->second);
    } else {
      JobRecord record;
      record.name = job;
      tier = TierOf(record);
    }
    tier_of_name_.emplace(job, tier);
    return tier;
  }

  // Returns the machine that counts among the machines [first, end) with the same name; null if none accepts
  // tasks.
  const MachineView* Chosen(size_t first, size_t end) const {
    const MachineView* best = nullptr;
    for (size_t i = first; i < end; ++i) {
      const MachineView& m = *input_.machines->machines[i];
      if (!m.present || !m.ready || !m.of(Resource::kCpu).capacity.has_value()) continue;
      if (best == nullptr ||
          (!best->of(Resource::kCpu).usage.has_value() && m.of(Resource::kCpu).usage.has_value()))
        best = &m;
    }
    return best;
  }

  bool AddMachines() {
    PerResource<Sum> sums;
    for (Sum& sum : sums) {
      sum.use.resize(tiers_);
      sum.allocated.resize(tiers_);
    }
    const auto& machines = input_.machines->machines;
    for (size_t i = 0, end = 0; i < machines.size(); i = end) {
      while (end < machines.size() && machines[end]->name == machines[i]->name) ++end;
      const MachineView* m = Chosen(i, end);
      if (m == nullptr) continue;
      ++out_.machines;
      out_.unmeasured_machines += m->of(Resource::kCpu).usage.has_value() ? 0 : 1;
      for (const Resource r : kResources) AddMachine(*m, r, sums[static_cast<size_t>(r)]);
    }
    if (out_.machines == 0) return false;
    for (const Resource r : kResources) {
      Sum& sum = sums[static_cast<size_t>(r)];
      CapacityAmounts& to = out_.amounts(r);
      if (!(sum.capacity > 0)) continue;
      to.capacity = sum.capacity;
      to.allocation = sum.allocation;
      to.allocated = std::move(sum.allocated);
      if (sum.measured < kMeasuredShare * sum.capacity) continue;
      to.usage = sum.usage;
      to.forecast = sum.forecast;
      to.use = std::move(sum.use);
    }
    return true;
  }

  void AddMachine(const MachineView& m, Resource r, Sum& sum) {
    const MachineAmounts& a = m.of(r);
    if (!a.capacity.has_value()) return;
    const auto i = static_cast<size_t>(r);
    sum.capacity += *a.capacity;
    sum.forecast += a.predicted.value_or(a.limits.value_or(*a.capacity));
    const bool measured = a.usage.has_value();
    if (measured) {
      sum.measured += *a.capacity;
      sum.usage += *a.usage;
    } else {
      sum.use[0] += *a.capacity;
    }
    for (const MachineTaskView& task : m.tasks) {
      const size_t tier = TierOfName(task.job);
      const double limit = task.limit[i].value_or(task.usage[i].value_or(0));
      sum.allocation += limit;
      sum.allocated[tier] += limit;
      // The usage of an unmeasured task is assumed to be its reservation, or its limit if the task has no
      // reservation.
      if (measured) sum.use[tier] += task.usage[i].value_or(task.reservation[i].value_or(limit));
    }
  }

  void AddFleet() {
    const int64_t end_s = out_.window.next().start_s();
    bool any = false;
    for (CapacityAmounts& a : out_.of) {
      a.allocated.resize(tiers_);
      a.use.resize(tiers_);
    }
    PerResource<double> usage = {}, allocation = {};
    for (const JobView& job : input_.fleet.jobs) {
      if (job.record == nullptr || job.whole_machine || job.tasks == 0 ||
          job.last_seen_s < end_s - kGoneAfterSeconds)
        continue;
      any = any || job.last_seen_s >= end_s;
      const size_t tier = TierOf(*job.record);
      for (const Resource r : kResources) {
        const JobAmounts& a = job.of(r);
        const std::optional<double> used = KillsAtLimit(r) && a.peak >= 0 ? Known(a.peak) : Known(a.usage);
        const double use = job.tasks * used.value_or(0);
        const double limit = job.tasks * Known(a.limit).value_or(used.value_or(0));
        const auto i = static_cast<size_t>(r);
        usage[i] += use;
        allocation[i] += limit;
        out_.of[i].use[tier] += use;
        out_.of[i].allocated[tier] += limit;
      }
    }
    for (size_t i = 0; i < usage.size(); ++i) {
      if (any) {  // no measured job means that the source of usage is silent
        out_.of[i].usage = usage[i];
        out_.of[i].allocation = allocation[i];
      } else {
        out_.of[i].use.clear();
        out_.of[i].allocated.clear();
      }
    }
  }

  void AddQuota() {
    if (input_.quota == nullptr) return;
    for (CapacityAmounts& a : out_.of) a.bought.resize(tiers_);
    for (const brain::QuotaRowView& row : input_.quota->rows) {
      const std::optional<Resource> of = ResourceNamed(row.resource);
      if (!of.has_value()) continue;
      const std::optional<size_t> tier = input_.tiers.TierNamed(row.tier);
      const double amount = static_cast<double>(row.cell.nominal) / (InCores(*of) ? 1000 : 1);
      out_.amounts(*of).bought[tier.value_or(0)] += amount;
    }
    for (CapacityAmounts& a : out_.of) {
      if (a.allocated.empty()) continue;
      double sum = 0;
      for (size_t t = 0; t < tiers_; ++t) sum += std::max(a.bought[t], a.allocated[t]);
      a.reservation = sum;
    }
  }

  const CapacityInput& input_;
  const size_t tiers_;
  CellCapacity out_;
  std::unordered_map<std::string, size_t> tier_of_name_;
  std::unordered_map<std::string_view, const JobRecord*> records_;
};

}  // namespace

std::string_view Name(CapacitySource source) { return kSourceNames[static_cast<size_t>(source)]; }

CellCapacity CellCapacityOf(const CapacityInput& input) { return CellCapacityMaker(input).Make(); }

}  // namespace taut::server
