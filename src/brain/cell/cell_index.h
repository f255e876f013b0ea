// What scheduling needs of a CellModel and what does not change with it: classes of identical tasks, which
// machines satisfy which constraints, domains, users. Built once, used by every packing of the model.
#pragma once

#include <cstdint>
#include <vector>

#include "brain/cell/cell_model.h"

namespace taut::brain {

// Tasks that every machine treats alike (an equivalence class): the same amounts, constraints and band.
struct CellClass {
  CellAmounts limit = {}, reservation = {};
  bool production = false;
  bool soft = false;
  uint32_t constraints = 0;  // a row of CellIndex::satisfied; 0: none
  // Spread and the number on one machine make a class of its own for each job.
  uint32_t job = UINT32_MAX;      // UINT32_MAX: of any job
  uint32_t domains = UINT32_MAX;  // a row of CellIndex::domains
  uint32_t max_per_domain = 0, max_per_machine = 0;
};

// Domains of one attribute: dense numbers from 0, kNoDomain for machines without the attribute.
inline constexpr uint32_t kNoDomain = UINT32_MAX;
struct CellDomains {
  uint32_t key = 0;
  uint32_t count = 0;
  std::vector<uint32_t> of_machine;
};

// Whether the machine has one of the values of each of them.
bool MeetsConstraints(const CellMachine& machine, const std::vector<CellConstraint>& constraints);

class CellIndex {
 public:
  // Keeps a reference: `model` must outlive it and must not change. REQUIRES: CheckCell accepted the model.
  explicit CellIndex(const CellModel& model);

  // Other amounts for the tasks of a job, which then are of another class. REQUIRES: amounts as of CheckCell, and
  // no state has a task of the job on a machine. O(1).
  void SetAmounts(uint32_t job, const CellAmounts& limit, const CellAmounts& reservation);

  const CellModel& model() const { return model_; }
  size_t resources() const { return model_.resources.size(); }
  const CellClass& class_of(uint32_t job) const { return classes_[class_of_job_[job]]; }
  uint32_t class_number(uint32_t job) const { return class_of_job_[job]; }
  size_t classes() const { return classes_.size(); }
  uint32_t user(uint32_t job) const { return user_of_job_[job]; }
  size_t users() const { return users_; }
  // Tasks are numbered through all jobs: those of a job are [first_task(job), first_task(job + 1)).
  uint32_t first_task(uint32_t job) const { return first_task_[job]; }
  uint32_t tasks() const { return first_task_.back(); }
  uint32_t job_of(uint32_t task) const { return job_of_task_[task]; }
  // By machine of the model: 1 if it satisfies these constraints. Row 0 is all ones.
  const std::vector<uint8_t>& satisfied(uint32_t constraints) const { return satisfied_[constraints]; }
  size_t constraint_sets() const { return satisfied_.size(); }
  const CellDomains& domains(uint32_t number) const { return domains_[number]; }
  // Machines of one capacity have one shape, from 0.
  uint32_t shape(uint32_t machine) const { return shape_of_machine_[machine]; }
  const std::vector<CellAmounts>& shapes() const { return shapes_; }

 private:
  void AddMachines();
  void AddJob(uint32_t job);
  uint32_t ClassNumber(const CellClass& c);
  uint32_t ConstraintSet(std::vector<CellConstraint> constraints);
  uint32_t DomainsOf(uint32_t key);

  const CellModel& model_;
  std::vector<CellClass> classes_;
  std::vector<uint32_t> class_of_job_, user_of_job_, first_task_, job_of_task_;
  size_t users_ = 0;
  std::vector<std::vector<CellConstraint>> constraint_sets_;
  std::vector<std::vector<uint8_t>> satisfied_;
  std::vector<CellDomains> domains_;
  std::vector<uint32_t> shape_of_machine_;
  std::vector<CellAmounts> shapes_;
  absl::flat_hash_map<std::string, uint32_t> class_numbers_, user_numbers_;
};

}  // namespace taut::brain
