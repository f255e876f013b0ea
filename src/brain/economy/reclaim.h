// Plans how a group reclaims its nominal quota that other groups borrow: the jobs of the other groups that have to
// end, when and why.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/admission.h"
#include "brain/economy/quota_ledger.h"
#include "brain/economy/quota_tree.h"
#include "common/base/time.h"

namespace taut::brain {

// The jobs that may end (Kueue's reclaimWithinCohort).
enum class ReclaimPolicy : uint8_t {
  kNever,
  kLowerPriority,  // jobs with a lower priority than the request
  kAny,            // all jobs of the cohort
};
std::string_view Name(ReclaimPolicy policy);  // "never", "lower-priority", "any"
std::optional<ReclaimPolicy> ReclaimPolicyNamed(std::string_view name);

// The policy, and the time between notice and end.
struct ReclaimOptions {
  ReclaimPolicy policy = ReclaimPolicy::kLowerPriority;
  int64_t grace_s = 300;  // seconds between notice and end, from 0 to a year
};

// A job that has to end.
struct ReclaimVictim {
  size_t job = 0;       // index in `jobs`
  Timestamp grace_end;  // the request's `now` plus the grace
  std::string reason;   // a sentence
};

// Result of PlanReclaim.
struct ReclaimPlan {
  // True if the request fits after the victims' use is released; without victims, if the request fits now.
  bool enough = false;
  std::vector<ReclaimVictim> victims;  // in the order of choice; empty if the victims would not suffice
  std::vector<std::string> why_not;    // sentences; empty if `enough`
};

// Chooses victims that make the request fit. Candidates are jobs of the request's tier in other groups that use
// more than their nominal quota of a lacking resource. All cohorts between such a group and the lowest cohort that
// also contains the request's group must exceed their quota, too. Victims are chosen by lowest priority, then
// newest start, then id.
// A job is chosen only while its group uses more than its nominal quota, so a group within its quota never loses a
// job. A job that is larger than its group's borrowed amount ends as a whole. Finally, from the last victim to the
// first, victims that are not needed are removed from the plan.
//
// The request is entitled only to its group's nominal quota: a lack beyond the nominal quota is not reclaimed,
// which `why_not` explains. A job that already has its notice must be in neither `jobs` nor `tree`; otherwise the
// plan assumes that the job stays. Changes nothing.
// Returns the errors of DecideAdmission, and InvalidArgument for a grace out of bounds or for jobs whose sum
// exceeds the use in the tree. O(jobs * (log jobs + resources * depth)), plus copies of the tier's lanes of the
// requested resources.
absl::StatusOr<ReclaimPlan> PlanReclaim(const QuotaTree& tree, std::span<const HeldJob> jobs,
                                        const AdmissionRequest& request, const ReclaimOptions& options);

}  // namespace taut::brain
