// Decides whether a group may run tasks in a tier now. The verdict has every reason, and the nearest alternatives
// that would fit. A decision changes nothing, so that every decision is a dry run. QuotaLedger counts admitted
// jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/quota_tree.h"
#include "common/base/time.h"

namespace taut::brain {

// A request to run tasks of a group in a tier.
struct AdmissionRequest {
  std::string group, tier;
  QuotaVector per_task = {};
  int64_t tasks = 1;  // number of tasks, which are admitted all together or not at all
  // Priority; higher is more important. Determines the jobs that end when quota is reclaimed.
  int32_t priority = 0;
  Timestamp now = {};
  std::optional<int64_t> duration_s = std::nullopt;  // expected run time; absent if unknown
};

// A use of quota, with the time at which it is expected to end.
struct ExpectedRelease {
  Timestamp at;
  QuotaUse use;
};

struct AdmissionOptions {
  size_t max_releases = 1000;  // highest number of releases to examine for a queued request
};

enum class AdmissionOutcome : uint8_t {
  kAdmitted,  // the request fits now
  kQueued,    // the request fits once other groups, or the group itself, release enough quota
  kRefused,   // the request would not fit even if all quota were unused
};
std::string_view Name(AdmissionOutcome outcome);  // returns, for example, "admitted"

// Reason why a request does not fit now. There is one reason for each pair of a resource and a level of the tree
// that has too little of the resource. If the amount of a resource would not fit even into an unused tree, the
// reasons for this resource describe the unused tree.
struct AdmissionReason {
  enum class Kind : uint8_t {
    kNoQuota,         // the group has no quota of the resource in the tier
    kBorrowingLimit,  // the borrowing limit of the group or of a cohort above it is reached
    kBudget,          // the group's budget is spent; the reason has no resource
    kCohort,          // the whole cohort, or a group without a parent, has no more unused quota
  };
  Kind kind = Kind::kNoQuota;
  bool never = false;  // true if the request would not fit even into an unused tree
  std::string resource;
  std::string level;      // name of the group or cohort
  int64_t asked = 0;      // amount that this level must provide, after the levels below it
  int64_t available = 0;  // amount that this level can provide, >= 0
  std::string text;       // explanation of one sentence
};

// Quota that an admitted request borrows.
struct AdmissionBorrowing {
  std::string resource;
  int64_t amount = 0;
  std::string cohort;  // the lowest cohort whose quota suffices
};

// Result of a decision.
struct AdmissionVerdict {
  AdmissionOutcome outcome = AdmissionOutcome::kRefused;
  QuotaUse use;  // use of all tasks together, which counts if the request is admitted
  // For an admitted request, amounts beyond the group's nominal quota. Empty if the request fits into the
  // nominal quota.
  std::vector<AdmissionBorrowing> borrowed;

  // The other fields are set for a request that is not admitted.
  std::vector<AdmissionReason> reasons;  // reasons by resource, then from the group upwards
  // For a queued request: `probably_at` is the time at which expected releases make the request fit, if no other
  // request is admitted before. Absent if the examined releases do not suffice. `after_release` is the last
  // release that the request needs.
  std::optional<Timestamp> probably_at;
  QuotaUse after_release;
  // True if the request is queued although it is within the group's nominal quota, because other groups borrow
  // this quota (reclaim.h).
  bool reclaimable = false;
  int64_t fitting_tasks = 0;             // highest number of tasks of the request that fit now
  QuotaVector fitting;                   // highest amounts that fit now, by requested resource
  std::vector<std::string> other_tiers;  // names of the tiers in which the request would fit now
};

// Decides on a request. `releases` must be in order of time, and a time in the past counts as now. A release that
// exceeds the use releases the whole use.
// Returns NotFound for an unknown group, FailedPrecondition for a cohort, and InvalidArgument for
// - an unknown tier, an empty request, less than 1 task,
// - a negative or excessive amount, or a duration outside [0, 100 years],
// - releases out of order (checked up to the release that makes the request fit).
// An unknown resource leads to a refusal, not to an error.
// O(tiers * resources * depth). For a queued request, also costs a copy of the tier's lanes of the requested
// resources, O(groups), and O(max_releases * resources * depth).
absl::StatusOr<AdmissionVerdict> DecideAdmission(const QuotaTree& tree, const AdmissionRequest& request,
                                                 std::span<const ExpectedRelease> releases = {},
                                                 const AdmissionOptions& options = {});

// Returns the verdict for a group that may not start anything now: a refusal. Its first reason is the sentence
// `why`, followed by the other reasons of `verdict`.
AdmissionVerdict Held(AdmissionVerdict verdict, std::string why);

// Explains the verdict in a few sentences for people. No trailing newline.
std::string Explain(const AdmissionVerdict& verdict);

}  // namespace taut::brain
