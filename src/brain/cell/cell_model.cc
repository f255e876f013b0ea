#include "brain/cell/cell_model.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr uint32_t kMaxTasks = 10'000'000;
constexpr uint64_t kMaxCellTasks = 100'000'000;

absl::Status CheckJob(const CellModel& model, const CellJob& job) {
  const std::string whose = StrCat("job \"", job.name, "\"");
  if (absl::Status s = CheckAmounts(model, whose, job.limit); !s.ok()) return s;
  if (absl::Status s = CheckAmounts(model, whose, job.reservation); !s.ok()) return s;
  for (size_t r = 0; r < model.resources.size(); ++r) {
    if (job.reservation[r] <= job.limit[r]) continue;
    return absl::InvalidArgumentError(StrCat("invalid reservation ", job.reservation[r], " (",
                                             model.resources[r].name, ") of ", whose,
                                             ": expected at most the limit, ", job.limit[r]));
  }
  if (job.tasks < 1 || job.tasks > kMaxTasks)
    return absl::InvalidArgumentError(
        StrCat("invalid number of tasks ", job.tasks, " of ", whose, ": expected 1 to ", kMaxTasks));
  const auto known = [&](uint32_t number) { return number < model.names.size(); };
  if (job.spread_key != kNoAttribute && (!known(job.spread_key) || job.max_per_domain == 0))
    return absl::InvalidArgumentError(
        StrCat("invalid spread of ", whose, ": expected a known attribute and at least 1 task in a domain"));
  for (const CellConstraint& c : job.constraints) {
    if (c.values.empty() || !known(c.key) || !std::ranges::all_of(c.values, known))
      return absl::InvalidArgumentError(
          StrCat("invalid constraint of ", whose, ": expected a known attribute and at least 1 known value"));
  }
  return absl::OkStatus();
}

absl::Status CheckMachines(CellModel& model, CellFindings& findings) {
  absl::flat_hash_set<std::string> taken;
  std::vector<CellMachine> kept;
  for (CellMachine& machine : model.machines) {
    const std::string whose = StrCat("machine \"", machine.name, "\"");
    if (absl::Status s = CheckAmounts(model, whose, machine.capacity); !s.ok()) return s;
    for (const CellAttribute& a : machine.attributes) {
      if (a.key >= model.names.size() || a.value >= model.names.size())
        return absl::InvalidArgumentError(StrCat("invalid attribute of ", whose, ": it has no name"));
    }
    if (!taken.insert(machine.name).second) {
      findings.Add("machine left out: the name is taken", machine.name);
    } else if (machine.capacity == CellAmounts{}) {
      findings.Add("machine left out: no capacity", machine.name);
    } else {
      kept.push_back(std::move(machine));
    }
  }
  model.machines = std::move(kept);
  return absl::OkStatus();
}

}  // namespace

std::vector<CellResource> CpuAndMemory() {
  return {{"cpu", "cores", 1000}, {"memory", "GiB", static_cast<double>(kGiB)}};
}

std::vector<CellResource> CpuMemoryGpu() {
  std::vector<CellResource> all = CpuAndMemory();
  all.push_back({"gpu", "GPUs", 1000});
  return all;
}

void CellFindings::Add(std::string_view cause, std::string_view example) {
  for (CellFinding& f : all_) {
    if (f.cause != cause) continue;
    ++f.count;
    return;
  }
  all_.push_back({std::string(cause), 1, std::string(example)});
}

absl::Status CheckAmounts(const CellModel& model, std::string_view whose, const CellAmounts& amounts) {
  for (size_t r = 0; r < kMaxCellResources; ++r) {
    const int64_t most = r < model.resources.size() ? kMaxCellAmount : 0;
    if (amounts[r] >= 0 && amounts[r] <= most) continue;
    return absl::InvalidArgumentError(
        StrCat("invalid amount ", amounts[r], " of resource ", r, " of ", whose, ": expected 0 to ", most));
  }
  return absl::OkStatus();
}

bool FitsInto(const CellAmounts& amounts, const CellAmounts& capacity) {
  for (size_t r = 0; r < kMaxCellResources; ++r) {
    if (amounts[r] > capacity[r]) return false;
  }
  return true;
}

uint32_t AttributeNames::Number(std::string_view text) {
  const auto [it, added] = numbers_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
  if (added) texts_.emplace_back(text);
  return it->second;
}

uint64_t CellModel::tasks() const {
  uint64_t sum = 0;
  for (const CellJob& job : jobs) sum += job.tasks;
  return sum;
}

CellAmounts CellModel::Capacity() const {
  CellAmounts sum = {};
  for (const CellMachine& m : machines) {
    for (size_t r = 0; r < kMaxCellResources; ++r) sum[r] += m.capacity[r];
  }
  return sum;
}

absl::StatusOr<std::vector<CellFinding>> CheckCell(CellModel& model) {
  if (model.resources.empty() || model.resources.size() > kMaxCellResources)
    return absl::InvalidArgumentError(StrCat("invalid number of resources ", model.resources.size(),
                                             ": expected 1 to ", kMaxCellResources));
  CellFindings findings;
  if (absl::Status s = CheckMachines(model, findings); !s.ok()) return s;
  absl::flat_hash_set<uint32_t> keys;
  absl::flat_hash_set<std::pair<uint32_t, uint32_t>> values;
  for (const CellMachine& machine : model.machines) {
    for (const CellAttribute& a : machine.attributes) {
      keys.insert(a.key);
      values.insert({a.key, a.value});
    }
  }
  const auto unknown = [&](const CellConstraint& c) {
    return std::ranges::none_of(c.values, [&](uint32_t v) { return values.contains({c.key, v}); });
  };
  absl::flat_hash_set<std::string> taken;
  std::vector<CellJob> kept;
  for (CellJob& job : model.jobs) {
    if (absl::Status s = CheckJob(model, job); !s.ok()) return s;
    if (!taken.insert(job.name).second) {
      findings.Add("job left out: the name is taken", job.name);
      continue;
    }
    const CellAmounts& need = IsProduction(job.tier) ? job.limit : job.reservation;
    if (std::ranges::none_of(model.machines, [&](const auto& m) { return FitsInto(need, m.capacity); }))
      findings.Add("job whose task is larger than any machine", job.name);
    if (std::ranges::any_of(job.constraints, unknown) ||
        (job.spread_key != kNoAttribute && !keys.contains(job.spread_key)))
      findings.Add("job that asks for an attribute that no machine has", job.name);
    kept.push_back(std::move(job));
  }
  model.jobs = std::move(kept);
  if (const uint64_t tasks = model.tasks(); tasks > kMaxCellTasks)
    return absl::InvalidArgumentError(
        StrCat("invalid number of tasks ", tasks, " of all jobs: expected at most ", kMaxCellTasks));
  return findings.Take();
}

std::string AmountText(const CellResource& resource, int64_t amount) {
  const double units = static_cast<double>(amount) / resource.per_unit;
  std::string_view unit = resource.unit;
  if (units == 1 && unit.ends_with('s')) unit.remove_suffix(1);
  return fmt::format("{:.4g} {} of {}", units, unit, resource.name);
}

}  // namespace taut::brain
