// Constant data for scheduling, derived from a CellModel: classes of identical tasks, the machines that satisfy
// each set of constraints, domains and users. Built once and shared by all packings of the model.
#pragma once

#include <cstdint>
#include <vector>

#include "brain/cell/cell_model.h"

namespace taut::brain {

// A class of equivalent tasks. They fit the same machines with equal scores, because they have equal amounts,
// constraints and flags.
struct CellClass {
  CellAmounts limit = {}, reservation = {};
  bool production = false;
  bool soft = false;
  uint32_t constraints = 0;  // row of CellIndex::satisfied; 0: no constraint
  // A job with a spread or a bound per machine has a class of its own, because spread and bound count the job's
  // own tasks.
  uint32_t job = UINT32_MAX;      // the only job of the class; UINT32_MAX if jobs share the class
  uint32_t domains = UINT32_MAX;  // row of CellIndex::domains; UINT32_MAX without a spread
  uint32_t max_per_domain = 0, max_per_machine = 0;
};

// The domain of each machine by the values of one attribute. Domains have dense numbers from 0; kNoDomain means
// that the machine lacks the attribute.
inline constexpr uint32_t kNoDomain = UINT32_MAX;
struct CellDomains {
  uint32_t key = 0;
  uint32_t count = 0;
  std::vector<uint32_t> of_machine;
};

// Returns true if, for every constraint, the machine's attribute has one of the allowed values.
bool MeetsConstraints(const CellMachine& machine, const std::vector<CellConstraint>& constraints);

// The index of one model. Several threads may call const methods while no thread calls SetAmounts.
class CellIndex {
 public:
  // Refers to `model`, which must outlive the index and must not change. REQUIRES: CheckCell accepted the model.
  // O(tasks + machines * constraint sets).
  explicit CellIndex(const CellModel& model);

  // Sets the amounts of one task of the job, which assigns the job to another class. REQUIRES: CheckAmounts
  // accepts the amounts, and no CellState of this index has a placed task of the job. O(1).
  void SetAmounts(uint32_t job, const CellAmounts& limit, const CellAmounts& reservation);

  const CellModel& model() const { return model_; }
  size_t resources() const { return model_.resources.size(); }
  const CellClass& class_of(uint32_t job) const { return classes_[class_of_job_[job]]; }
  uint32_t class_number(uint32_t job) const { return class_of_job_[job]; }
  size_t classes() const { return classes_.size(); }
  uint32_t user(uint32_t job) const { return user_of_job_[job]; }
  size_t users() const { return users_; }
  // Tasks are numbered across all jobs: job j has the tasks [first_task(j), first_task(j + 1)).
  uint32_t first_task(uint32_t job) const { return first_task_[job]; }
  uint32_t tasks() const { return first_task_.back(); }
  uint32_t job_of(uint32_t task) const { return job_of_task_[task]; }
  // Returns one element per machine of the model: 1 if the machine satisfies this set of constraints, else 0. Set
  // 0 has no constraints.
  const std::vector<uint8_t>& satisfied(uint32_t constraints) const { return satisfied_[constraints]; }
  size_t constraint_sets() const { return satisfied_.size(); }
  const CellDomains& domains(uint32_t number) const { return domains_[number]; }
  // Returns the number of the machine's shape, which all machines of equal capacity share. Numbers are dense,
  // from 0.
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
