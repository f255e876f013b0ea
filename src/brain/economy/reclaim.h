// Plans the reclaim of a group's nominal quota that other groups borrow: the jobs of the other groups that must
// end, each with the time and the reason.
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

// The jobs that may be ended (Kueue's reclaimWithinCohort).
enum class ReclaimPolicy : uint8_t {
  kNever,
  kLowerPriority,  // jobs whose priority is lower than the request's priority
  kAny,            // all jobs of the cohort
};
std::string_view Name(ReclaimPolicy policy);  // returns "never", "lower-priority" or "any"
std::optional<ReclaimPolicy> ReclaimPolicyNamed(std::string_view name);

// The policy, and the time between the notice and the end of a job.
struct ReclaimOptions {
  ReclaimPolicy policy = ReclaimPolicy::kLowerPriority;
  int64_t grace_s = 300;  // seconds between notice and end, 0 to a year
};

// A job that must end.
struct ReclaimVictim {
  size_t job = 0;       // index in the argument `jobs` of PlanReclaim
  Timestamp grace_end;  // the request's `now` plus grace_s
  std::string reason;   // explanation of one sentence
};

// Result of PlanReclaim.
struct ReclaimPlan {
  // True if the request fits once the victims' use is released. Without victims, true if the request fits now.
  bool enough = false;
  // Jobs to end, in the order of choice; empty if all jobs would not suffice.
  std::vector<ReclaimVictim> victims;
  std::vector<std::string> why_not;  // explanation in sentences; empty if `enough`
};

// Chooses victims that make the request fit. Candidates are jobs of the request's tier in other groups that use
// more than their nominal quota of a lacking resource. All cohorts between such a group and the lowest cohort
// that also contains the request's group must exceed their quota, too. Victims are chosen by lowest priority,
// then newest start, then id.
// A job is chosen only while its group uses more than its nominal quota, so that a group within its quota never
// loses a job. A job that is larger than the borrowed amount of its group ends as a whole. Finally, unnecessary
// victims are removed from the plan, from the last victim to the first.
//
// The request is entitled only to its group's nominal quota. A lack beyond the nominal quota is not reclaimed,
// which `why_not` explains. A job that already has its notice must be in neither `jobs` nor `tree`, because the
// plan assumes that all other jobs stay. Changes nothing.
// Returns the errors of DecideAdmission, and InvalidArgument for a grace out of bounds or for jobs whose sum
// exceeds the use in the tree. O(jobs * (log jobs + resources * depth)), plus copies of the tier's lanes of the
// requested resources.
absl::StatusOr<ReclaimPlan> PlanReclaim(const QuotaTree& tree, std::span<const HeldJob> jobs,
                                        const AdmissionRequest& request, const ReclaimOptions& options);

}  // namespace taut::brain
