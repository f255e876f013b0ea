// The model of a cell for scheduling: machines and jobs of identical tasks, with amounts of several resources.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/model/tier.h"

namespace taut::brain {

// A resource of the cell. Amounts are whole numbers of a small unit; one displayed unit has `per_unit` small
// units.
struct CellResource {
  std::string name;  // name, such as "memory"
  std::string unit;  // displayed unit, such as "GiB"
  double per_unit = 1;
};
inline constexpr size_t kMaxCellResources = 4;
// One amount for each row of CellModel::resources. Elements without a resource are 0.
using CellAmounts = std::array<int64_t, kMaxCellResources>;
inline constexpr int64_t kMaxCellAmount = int64_t{1} << 50;

// Rows of the usual resources: millicores, bytes, and, with CpuMemoryGpu(), thousandths of a GPU.
inline constexpr size_t kCellCpu = 0, kCellMemory = 1, kCellGpu = 2;
// Return the usual resources, in the order of the rows above.
std::vector<CellResource> CpuAndMemory();
std::vector<CellResource> CpuMemoryGpu();

using CellTier = Tier;
inline constexpr size_t kCellTiers = kTiers;

// Assigns numbers to the texts of attributes' keys and values. Equal texts have one number; numbers are dense,
// from 0.
class AttributeNames {
 public:
  // Returns the number of a text; adds the text if it is new.
  uint32_t Number(std::string_view text);
  const std::string& text(uint32_t number) const { return texts_[number]; }
  size_t size() const { return texts_.size(); }

 private:
  std::vector<std::string> texts_;
  absl::flat_hash_map<std::string, uint32_t> numbers_;
};

struct CellAttribute {
  uint32_t key = 0, value = 0;
  auto operator<=>(const CellAttribute&) const = default;
};

struct CellMachine {
  std::string name;
  CellAmounts capacity = {};
  std::vector<CellAttribute> attributes;  // attributes, at most one for each key
};

// A requirement that the machine's attribute `key` has one of `values`.
struct CellConstraint {
  uint32_t key = 0;
  std::vector<uint32_t> values;
  auto operator<=>(const CellConstraint&) const = default;
};

inline constexpr uint32_t kNoAttribute = UINT32_MAX;

// A job of identical tasks of one user.
struct CellJob {
  std::string name, user;
  CellTier tier = CellTier::kBatch;
  uint32_t tasks = 1;
  // Amounts of one task: `limit` is the most that the task may use, `reservation` the amount that the scheduler
  // counts for a running task. On a machine, the sum of the limits of production tasks must fit into the capacity.
  // The sum of the reservations of all tasks must fit, too.
  CellAmounts limit = {}, reservation = {};
  std::vector<CellConstraint> constraints;  // all constraints must be met
  // Attribute whose values are the domains to spread over. A domain runs at most max_per_domain tasks of the
  // job.
  uint32_t spread_key = kNoAttribute;
  uint32_t max_per_domain = 0;   // most tasks of the job in a domain; > 0 if spread_key is set
  uint32_t max_per_machine = 0;  // most tasks of the job on one machine; 0: unlimited
  bool gang = false;             // true if either all tasks run or none
  // True if constraints, spread and max_per_machine are preferred instead of required.
  bool soft = false;
};

// A cell: machines, jobs, and the texts for the numbers of attributes.
struct CellModel {
  std::vector<CellResource> resources;  // resources of the cell, 1 to kMaxCellResources
  AttributeNames names;
  std::vector<CellMachine> machines;
  std::vector<CellJob> jobs;

  // Returns the number of tasks of all jobs. O(jobs).
  uint64_t tasks() const;
  CellAmounts Capacity() const;  // returns the sum over all machines
};

// A cause, and the number of machines, jobs or events to which the cause applies.
struct CellFinding {
  std::string cause;
  uint64_t count = 0;
  std::string first;  // description of the first machine, job or event
};

// Collects one finding for each cause, in order of first appearance. Add is O(causes).
class CellFindings {
 public:
  // Adds one to the count of `cause`. Stores `example` only at the first appearance of the cause.
  void Add(std::string_view cause, std::string_view example);
  std::vector<CellFinding> Take() { return std::move(all_); }

 private:
  std::vector<CellFinding> all_;
};

// Checks and corrects a model. Returns one finding for each cause.
// Removes machines without capacity, and machines and jobs whose name is already used.
// Keeps jobs whose task is larger than any machine, or that require or spread over an attribute that no machine
// has. Their tasks stay pending with a reason.
// Returns InvalidArgument if
// - there is no resource, or more than kMaxCellResources,
// - CheckAmounts rejects an amount, or a reservation exceeds the limit,
// - a job has 0 or more than 10 million tasks, or all jobs together have more than 100 million,
// - a spread has no bound, a constraint has no values, or an attribute number has no text.
absl::StatusOr<std::vector<CellFinding>> CheckCell(CellModel& model);

// Returns true if each amount is at most the capacity of its resource.
bool FitsInto(const CellAmounts& amounts, const CellAmounts& capacity);

// Returns InvalidArgument if an amount is outside [0, kMaxCellAmount], or if an amount of a row without a resource
// is not 0. `whose` is the owner of the amounts in the error message, such as "machine \"m1\"".
absl::Status CheckAmounts(const CellModel& model, std::string_view whose, const CellAmounts& amounts);

// Returns the amount in the displayed unit, such as "1.5 GiB of memory".
std::string AmountText(const CellResource& resource, int64_t amount);

}  // namespace taut::brain
