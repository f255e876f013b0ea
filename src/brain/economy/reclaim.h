// What a group does to get back its nominal quota that others borrow: which of their jobs end, when and why.
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

// Whose jobs may end (Kueue's reclaimWithinCohort).
enum class ReclaimPolicy : uint8_t {
  kNever,
  kLowerPriority,  // those of a lower priority than the request's
  kAny,            // all of the cohort
};
std::string_view Name(ReclaimPolicy policy);  // "never", "lower-priority", "any"
std::optional<ReclaimPolicy> ReclaimPolicyNamed(std::string_view name);

struct ReclaimOptions {
  ReclaimPolicy policy = ReclaimPolicy::kLowerPriority;
  int64_t grace_s = 300;  // between the notice and the end; 0 to a year
};

struct ReclaimVictim {
  size_t job = 0;       // its index in `jobs`
  Timestamp grace_end;  // the request's `now` plus the grace
  std::string reason;   // a sentence
};

struct ReclaimPlan {
  // With the victims' use released the request fits; with none, it fits now.
  bool enough = false;
  std::vector<ReclaimVictim> victims;  // in the order they were chosen; none if that is not enough
  std::vector<std::string> why_not;    // sentences; none if it is enough
};

// The victims that make the request fit. They are chosen among the jobs of the request's tier in other groups
// that use more than their nominal of a resource that the request lacks, each in cohorts that do so, too, up
// to the one they share with the request's group: by lowest priority, then newest, then id. Each is chosen
// only while its group uses more than its nominal, so a group within it never loses a job; a job that is
// larger than what its group borrows is chosen whole. Then, from the last chosen to the first, those that are
// not needed are spared: none of the victims could be left out.
//
// The request is entitled to its group's nominal only: what it lacks beyond that is not reclaimed, and
// `why_not` says so. A job that has its notice already should be in neither `jobs` nor `tree`, or it counts
// as staying. Changes nothing. Errors as DecideAdmission; and InvalidArgument for a grace out of bounds, and
// for jobs that together use more than the tree has in use. O(jobs * (log jobs + resources * depth)), plus
// copies of the tier's resources asked for.
absl::StatusOr<ReclaimPlan> PlanReclaim(const QuotaTree& tree, std::span<const HeldJob> jobs,
                                        const AdmissionRequest& request, const ReclaimOptions& options);

}  // namespace taut::brain
