#include "brain/cell/cell_experiments.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "brain/cell/cell_index.h"
#include "common/base/byte_units.h"
#include "common/base/random.h"
#include "common/base/row_named.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

using Variant = absl::StatusOr<CellVariant>;

CellModel WithoutJobs(const CellModel& cell) {
  CellModel out;
  out.resources = cell.resources;
  out.names = cell.names;
  out.machines = cell.machines;
  return out;
}

// Returns one cell for each part that has jobs. `part_of` maps each job to its part, a number below `parts`.
CellVariant Divide(const CellModel& cell, const std::vector<uint32_t>& part_of, uint32_t parts,
                   const CellExperimentOptions& options) {
  CellVariant out{{}, options.scoring};
  for (uint32_t p = 0; p < parts; ++p) {
    CellModel part = WithoutJobs(cell);
    for (size_t j = 0; j < cell.jobs.size(); ++j) {
      if (part_of[j] == p) part.jobs.push_back(cell.jobs[j]);
    }
    if (!part.jobs.empty()) out.parts.push_back(std::move(part));
  }
  return out;
}

Variant Base(const CellModel& cell, const CellExperimentOptions& options) {
  return CellVariant{{cell}, options.scoring};
}

template <CellScore kScore>
Variant Scored(const CellModel& cell, const CellExperimentOptions& options) {
  CellVariant out{{cell}, options.scoring};
  out.scoring.score = kScore;
  return out;
}

Variant NoReclamation(const CellModel& cell, const CellExperimentOptions& options) {
  CellVariant out{{cell}, options.scoring};
  bool any = false;
  for (CellJob& job : out.parts[0].jobs) {
    any = any || job.reservation != job.limit;
    job.reservation = job.limit;
  }
  if (!any) return absl::FailedPreconditionError("every reservation is the limit");
  return out;
}

Variant Segregate(const CellModel& cell, const CellExperimentOptions& options) {
  std::vector<uint32_t> part_of;
  for (const CellJob& job : cell.jobs) part_of.push_back(IsProduction(job.tier) ? 0 : 1);
  CellVariant out = Divide(cell, part_of, 2, options);
  if (out.parts.size() == 2) return out;
  return absl::FailedPreconditionError("all jobs are production, or none is");
}

// Permutes the jobs at random and assigns them to the parts in turn.
template <uint32_t kParts>
Variant Split(const CellModel& cell, const CellExperimentOptions& options) {
  if (cell.jobs.size() < kParts)
    return absl::FailedPreconditionError(StrCat("there are ", cell.jobs.size(), " jobs"));
  std::vector<size_t> order(cell.jobs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Rng rng(options.seed);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
  std::vector<uint32_t> part_of(order.size());
  for (size_t i = 0; i < order.size(); ++i) part_of[order[i]] = static_cast<uint32_t>(i % kParts);
  return Divide(cell, part_of, kParts, options);
}

Variant LargeUsers(const CellModel& cell, const CellExperimentOptions& options) {
  if (cell.resources.size() <= kCellMemory) return absl::FailedPreconditionError("the cell has no memory");
  std::map<std::string_view, double> memory;
  for (const CellJob& job : cell.jobs)
    memory[job.user] += static_cast<double>(job.limit[kCellMemory]) * job.tasks;
  const double least = options.large_user * static_cast<double>(cell.Capacity()[kCellMemory]);
  std::map<std::string_view, uint32_t> parts;
  for (const auto& [user, bytes] : memory) {
    if (bytes >= least) parts.emplace(user, static_cast<uint32_t>(parts.size() + 1));
  }
  if (parts.empty() || memory.size() < 2)
    return absl::FailedPreconditionError(
        parts.empty() ? StrCat("no user asks for ", 100 * options.large_user, " % of the memory")
                      : "there is one user");
  std::vector<uint32_t> part_of;
  for (const CellJob& job : cell.jobs) {
    const auto it = parts.find(job.user);
    part_of.push_back(it == parts.end() ? 0 : it->second);
  }
  return Divide(cell, part_of, static_cast<uint32_t>(parts.size() + 1), options);
}

bool Fits(const CellAmounts& amounts, const CellMachine& machine) {
  for (size_t r = 0; r < kMaxCellResources; ++r) {
    if (amounts[r] > machine.capacity[r]) return false;
  }
  return true;
}

bool FitsSomewhere(const CellModel& cell, const CellJob& job, const CellAmounts& amounts) {
  return std::ranges::any_of(cell.machines, [&](const CellMachine& m) {
    return Fits(amounts, m) && MeetsConstraints(m, job.constraints);
  });
}

// Returns the machine with the least memory, then the least CPU, that can run one task; nullptr if there is
// none.
const CellMachine* SmallestFor(const CellModel& cell, const CellJob& job) {
  const CellMachine* best = nullptr;
  const auto size = [](const CellMachine& m) {
    return std::pair(m.capacity[kCellMemory], m.capacity[kCellCpu]);
  };
  for (const CellMachine& m : cell.machines) {
    if (!Fits(job.limit, m) || !MeetsConstraints(m, job.constraints)) continue;
    if (best == nullptr || size(m) < size(*best)) best = &m;
  }
  return best;
}

void RoundLimits(CellJob& job) {
  job.limit[kCellCpu] = PowerOfTwo(job.limit[kCellCpu], 500);
  job.limit[kCellMemory] = PowerOfTwo(job.limit[kCellMemory], static_cast<int64_t>(kGiB));
}

// Scales the reservations so that their share of the limits equals the share in `original`.
void ReserveInProportion(const CellJob& original, CellJob& job) {
  for (size_t r = 0; r < kMaxCellResources; ++r) {
    if (original.limit[r] == 0) continue;
    const double share =
        static_cast<double>(original.reservation[r]) / static_cast<double>(original.limit[r]);
    job.reservation[r] =
        std::min(job.limit[r], static_cast<int64_t>(std::ceil(share * static_cast<double>(job.limit[r]))));
  }
}

enum class Rounding : uint8_t {
  kProduction,     // production jobs; a task that rounding makes too large gets a machine's capacity as limit
  kProductionLow,  // production jobs; a job that rounding makes too large is removed
  kAll,            // all jobs, like kProduction, with reservations in proportion to the limits
};

template <Rounding kRounding>
Variant RoundUp(const CellModel& cell, const CellExperimentOptions& options) {
  if (cell.resources.size() <= kCellMemory) return absl::FailedPreconditionError("the cell has no memory");
  CellVariant out{{WithoutJobs(cell)}, options.scoring};
  for (const CellJob& original : cell.jobs) {
    CellJob job = original;
    if (kRounding == Rounding::kAll || IsProduction(job.tier)) RoundLimits(job);
    if (!FitsSomewhere(cell, job, job.limit) && FitsSomewhere(cell, job, original.limit)) {
      if (kRounding == Rounding::kProductionLow) {
        ++out.left_out;
        continue;
      }
      job.limit = SmallestFor(cell, original)->capacity;
      ++out.cut_to_machine;
    }
    if (kRounding == Rounding::kAll) ReserveInProportion(original, job);
    out.parts[0].jobs.push_back(std::move(job));
  }
  return out;
}

// Sets the limit. Returns true if the limit had to be reduced to a machine's capacity.
bool SetLimit(const CellModel& cell, const CellJob& original, const JobAmounts::mapped_type& limit,
              CellJob& job) {
  for (size_t r = 0; r < cell.resources.size(); ++r) {
    if (!limit[r].has_value()) continue;
    const bool all_reserved = original.reservation[r] == original.limit[r];
    job.limit[r] = *limit[r];
    job.reservation[r] = all_reserved ? *limit[r] : std::min(original.reservation[r], *limit[r]);
  }
  if (FitsInto(job.limit, original.limit) || FitsSomewhere(cell, job, job.limit)) return false;
  const CellMachine* const machine = SmallestFor(cell, original);
  if (machine == nullptr) return false;  // no machine had room for the original limit either
  for (size_t r = 0; r < cell.resources.size(); ++r) {
    // std::max keeps the limit at or above the original limit, which fits this machine.
    job.limit[r] = std::max(original.limit[r], std::min(job.limit[r], machine->capacity[r]));
    job.reservation[r] = std::min(job.reservation[r], job.limit[r]);
  }
  return true;
}

absl::Status NoneIsKnown() {
  return absl::FailedPreconditionError("of no job of the cell is the usage known");
}

}  // namespace

CellExperiment LimitsExperiment(std::string_view name, std::string_view help, const JobAmounts& limits) {
  return {name, help, "", [&limits](const CellModel& cell, const CellExperimentOptions& options) -> Variant {
            CellVariant out{{cell}, options.scoring};
            bool any = false;
            for (size_t j = 0; j < cell.jobs.size(); ++j) {
              const auto it = limits.find(cell.jobs[j].name);
              if (it == limits.end()) continue;
              any = true;
              if (SetLimit(cell, cell.jobs[j], it->second, out.parts[0].jobs[j])) ++out.cut_to_machine;
            }
            if (!any) return NoneIsKnown();
            return out;
          }};
}

CellExperiment LoadsExperiment(std::string_view name, std::string_view help,
                               std::shared_ptr<const MachineLoads> loads) {
  return {name, help, "",
          [loads = std::move(loads)](const CellModel& cell, const CellExperimentOptions& options) -> Variant {
            CellVariant out{{cell}, options.scoring};
            out.loads = loads;
            return out;
          }};
}

CellExperiment ReservationsExperiment(std::string_view name, std::string_view help,
                                      const JobAmounts& reservations) {
  return {name, help, "",
          [&reservations](const CellModel& cell, const CellExperimentOptions& options) -> Variant {
            CellVariant out{{cell}, options.scoring};
            bool any = false;
            for (CellJob& job : out.parts[0].jobs) {
              const auto it = reservations.find(job.name);
              if (it == reservations.end()) continue;
              any = true;
              for (size_t r = 0; r < cell.resources.size(); ++r) {
                if (it->second[r].has_value()) job.reservation[r] = std::min(*it->second[r], job.limit[r]);
              }
            }
            if (!any) return NoneIsKnown();
            return out;
          }};
}

const std::vector<CellExperiment>& CellExperiments() {
  static const std::vector<CellExperiment> kAll = {
      {"base", "the cell as it is", "", Base},
      {"no-reclamation", "reservations are the limits: nothing is reclaimed", "", NoReclamation},
      {"segregate", "production in one cell, all other jobs in another", "+20..30 %", Segregate},
      {"split-2", "2 cells; jobs are dealt in turn in random order", "", Split<2>},
      {"split-5", "5 cells", "", Split<5>},
      {"split-10", "10 cells", "", Split<10>},
      {"large-users", "one cell for each large user and one for all other users", "+20..150 %", LargeUsers},
      {"powers-of-two",
       "limits of production round up to powers of two; a task that then fits nowhere has a machine",
       "+30..50 %", RoundUp<Rounding::kProduction>},
      {"powers-of-two-low", "the same; a task that then fits nowhere is left out", "+30..50 %",
       RoundUp<Rounding::kProductionLow>},
      {"powers-of-two-all", "limits of all jobs round up, reservations grow in proportion", "",
       RoundUp<Rounding::kAll>},
      {"best-fit", "the cell as it is, packed by best fit", "+3..5 %", Scored<CellScore::kBestFit>},
      {"worst-fit", "the cell as it is, packed by worst fit (E-PVM)", "", Scored<CellScore::kWorstFit>},
      {"hybrid", "the cell as it is, packed by the hybrid score", "", Scored<CellScore::kHybrid>},
  };
  return kAll;
}

absl::StatusOr<const CellExperiment*> CellExperimentByName(std::string_view name) {
  return RowNamed("experiment", CellExperiments(), name);
}

int64_t PowerOfTwo(int64_t amount, int64_t unit) {
  if (amount <= 0) return 0;
  int64_t size = unit;
  while (size < amount) size *= 2;
  return size;
}

}  // namespace taut::brain
