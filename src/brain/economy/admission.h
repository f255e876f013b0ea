// Decides whether a group may run something at a tier now: the verdict with every reason, and the nearest
// alternatives that would fit. A decision changes nothing, so every decision is a dry run; QuotaLedger counts
// admitted jobs.
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
  int64_t tasks = 1;     // admitted all together or not at all
  int32_t priority = 0;  // higher is more important; used when quota is reclaimed later
  Timestamp now = {};
  std::optional<int64_t> duration_s = std::nullopt;  // expected run time; absent: unknown
};

// A use of quota and its expected end.
struct ExpectedRelease {
  Timestamp at;
  QuotaUse use;
};

struct AdmissionOptions {
  size_t max_releases = 1000;  // most releases to examine for the time at which a queued request fits
};

enum class AdmissionOutcome : uint8_t {
  kAdmitted,  // fits now
  kQueued,    // fits once other groups, or the group itself, release enough
  kRefused,   // would not fit even if nothing were in use
};
std::string_view Name(AdmissionOutcome outcome);  // "admitted"

// Why a request does not fit now: one reason for each resource and each level of the tree without enough. If
// a resource is refused, its reasons describe an unused tree.
struct AdmissionReason {
  enum class Kind : uint8_t {
    kNoQuota,         // the group has no quota of the resource in the tier
    kBorrowingLimit,  // borrowing limit of the group or of a cohort above
    kBudget,          // the group's budget is spent; not about a resource
    kCohort,          // the whole cohort (or a group without parent) has no more unused quota to lend
  };
  Kind kind = Kind::kNoQuota;
  bool never = false;  // would not fit even into an unused tree
  std::string resource;
  std::string level;      // the group or cohort
  int64_t asked = 0;      // amount that this level is asked for, after the levels below
  int64_t available = 0;  // amount that this level has left, >= 0
  std::string text;       // a sentence
};

// Quota that an admitted request borrows.
struct AdmissionBorrowing {
  std::string resource;
  int64_t amount = 0;
  std::string cohort;  // lowest cohort whose own quota suffices
};

// Result of a decision.
struct AdmissionVerdict {
  AdmissionOutcome outcome = AdmissionOutcome::kRefused;
  QuotaUse use;  // use of all tasks together, which is added if the request is admitted
  // For an admitted request: amounts beyond the group's nominal quota; empty if the request fits into the nominal
  // quota.
  std::vector<AdmissionBorrowing> borrowed;

  // The fields from here on are for a request that is not admitted.
  std::vector<AdmissionReason> reasons;  // by resource, then from the group up
  // Queued: the time at which expected releases make the request fit, if no other request is admitted before.
  // Absent if the examined releases do not suffice. after_release: the last release that the request needs.
  std::optional<Timestamp> probably_at;
  QuotaUse after_release;
  // True if the request is queued although it is within the group's nominal quota, because other groups borrow
  // this quota (reclaim.h).
  bool reclaimable = false;
  int64_t fitting_tasks = 0;             // the most tasks of the request that fit now
  QuotaVector fitting;                   // the most that fits now, by requested resource
  std::vector<std::string> other_tiers;  // tiers in which the request would fit now, by name
};

// Decides on a request. `releases` must be in order of time. A time in the past counts as now. A release of more
// than is in use releases the whole use.
// Returns NotFound for an unknown group, FailedPrecondition for a cohort, and InvalidArgument for
// - an unknown tier, an empty request, less than 1 task,
// - a negative or excessive amount, or a duration outside [0, 100 years],
// - releases out of order (checked up to the release that makes the request fit).
// An unknown resource is refused and is not an error.
// O(tiers * resources * depth). If queued, also a copy of the tier's lanes of the requested resources,
// O(groups), and O(max_releases * resources * depth).
absl::StatusOr<AdmissionVerdict> DecideAdmission(const QuotaTree& tree, const AdmissionRequest& request,
                                                 std::span<const ExpectedRelease> releases = {},
                                                 const AdmissionOptions& options = {});

// Returns the verdict for a group that may not start anything now: refused, with `why` (a sentence) before
// the other reasons.
AdmissionVerdict Held(AdmissionVerdict verdict, std::string why);

// Explains the verdict in a few sentences for people. No trailing newline.
std::string Explain(const AdmissionVerdict& verdict);

}  // namespace taut::brain
