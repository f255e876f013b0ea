#include "brain/cell/cell_index.h"

#include <algorithm>

#include "common/base/strings.h"

namespace taut::brain {
namespace {

uint32_t ValueOf(const CellMachine& machine, uint32_t key) {
  for (const CellAttribute& a : machine.attributes) {
    if (a.key == key) return a.value;
  }
  return kNoAttribute;
}

std::string ClassKey(const CellClass& c) {
  std::string key;
  const auto add = [&](auto value) { key.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  for (size_t r = 0; r < kMaxCellResources; ++r) {
    add(c.limit[r]);
    add(c.reservation[r]);
  }
  add(c.production);
  add(c.soft);
  add(c.constraints);
  add(c.job);
  return key;
}

}  // namespace

bool MeetsConstraints(const CellMachine& machine, const std::vector<CellConstraint>& constraints) {
  return std::ranges::all_of(constraints, [&](const CellConstraint& c) {
    const uint32_t value = ValueOf(machine, c.key);
    return value != kNoAttribute && std::ranges::find(c.values, value) != c.values.end();
  });
}

CellIndex::CellIndex(const CellModel& model) : model_(model) {
  AddMachines();
  ConstraintSet({});
  first_task_.push_back(0);
  for (uint32_t j = 0; j < model_.jobs.size(); ++j) AddJob(j);
  users_ = user_numbers_.size();
}

void CellIndex::AddMachines() {
  absl::flat_hash_map<CellAmounts, uint32_t> numbers;
  for (const CellMachine& m : model_.machines) {
    const auto [it, added] = numbers.try_emplace(m.capacity, static_cast<uint32_t>(shapes_.size()));
    if (added) shapes_.push_back(m.capacity);
    shape_of_machine_.push_back(it->second);
  }
}

void CellIndex::AddJob(uint32_t j) {
  const CellJob& job = model_.jobs[j];
  CellClass c;
  c.limit = job.limit;
  c.reservation = job.reservation;
  c.production = IsProduction(job.tier);
  c.soft = job.soft;
  c.constraints = ConstraintSet(job.constraints);
  if (job.spread_key != kNoAttribute) {
    c.domains = DomainsOf(job.spread_key);
    c.max_per_domain = job.max_per_domain;
  }
  c.max_per_machine = job.max_per_machine;
  if (c.max_per_domain > 0 || c.max_per_machine > 0) c.job = j;
  class_of_job_.push_back(ClassNumber(c));
  user_of_job_.push_back(
      user_numbers_.try_emplace(job.user, static_cast<uint32_t>(user_numbers_.size())).first->second);
  job_of_task_.insert(job_of_task_.end(), job.tasks, j);
  first_task_.push_back(static_cast<uint32_t>(job_of_task_.size()));
}

uint32_t CellIndex::ClassNumber(const CellClass& c) {
  const auto [it, added] = class_numbers_.try_emplace(ClassKey(c), static_cast<uint32_t>(classes_.size()));
  if (added) classes_.push_back(c);
  return it->second;
}

void CellIndex::SetAmounts(uint32_t job, const CellAmounts& limit, const CellAmounts& reservation) {
  CellClass c = class_of(job);
  c.limit = limit;
  c.reservation = reservation;
  class_of_job_[job] = ClassNumber(c);
}

uint32_t CellIndex::ConstraintSet(std::vector<CellConstraint> constraints) {
  for (CellConstraint& c : constraints) std::ranges::sort(c.values);
  std::ranges::sort(constraints);
  const auto known = std::ranges::find(constraint_sets_, constraints);
  if (known != constraint_sets_.end()) return static_cast<uint32_t>(known - constraint_sets_.begin());
  std::vector<uint8_t> satisfied;
  satisfied.reserve(model_.machines.size());
  for (const CellMachine& m : model_.machines) satisfied.push_back(MeetsConstraints(m, constraints) ? 1 : 0);
  satisfied_.push_back(std::move(satisfied));
  constraint_sets_.push_back(std::move(constraints));
  return static_cast<uint32_t>(constraint_sets_.size() - 1);
}

uint32_t CellIndex::DomainsOf(uint32_t key) {
  for (uint32_t d = 0; d < domains_.size(); ++d) {
    if (domains_[d].key == key) return d;
  }
  CellDomains domains{.key = key, .count = 0, .of_machine = {}};
  absl::flat_hash_map<uint32_t, uint32_t> numbers;
  for (const CellMachine& m : model_.machines) {
    const uint32_t value = ValueOf(m, key);
    domains.of_machine.push_back(
        value == kNoAttribute
            ? kNoDomain
            : numbers.try_emplace(value, static_cast<uint32_t>(numbers.size())).first->second);
  }
  domains.count = static_cast<uint32_t>(numbers.size());
  domains_.push_back(std::move(domains));
  return static_cast<uint32_t>(domains_.size() - 1);
}

}  // namespace taut::brain
