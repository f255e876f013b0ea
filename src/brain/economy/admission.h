// "May this group run this at this tier now?": the verdict, with every reason, and the nearest thing that
// would fit. A decision changes nothing, so that a dry run is the decision itself; QuotaLedger takes what is
// admitted.
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

struct AdmissionRequest {
  std::string group, tier;
  QuotaVector per_task = {};
  int64_t tasks = 1;     // admitted together or not at all
  int32_t priority = 0;  // higher is more important; for what reclaims it later
  Timestamp now = {};
  std::optional<int64_t> duration_s = std::nullopt;  // how long it will probably run
};

// What probably ends when.
struct ExpectedRelease {
  Timestamp at;
  QuotaUse use;
};

struct AdmissionOptions {
  size_t max_releases = 1000;  // to look through for the time at which a queued request fits
};

enum class AdmissionOutcome : uint8_t {
  kAdmitted,  // fits now
  kQueued,    // fits when others have released enough, or the group has
  kRefused,   // could not fit if no one used anything
};
std::string_view Name(AdmissionOutcome outcome);  // "admitted"

// Why it does not fit now, one for each resource and level of the tree that does not have enough; if it is
// refused for a resource, the reasons of that resource are those that hold for an unused tree.
struct AdmissionReason {
  enum class Kind : uint8_t {
    kNoQuota,         // the group has no quota of the resource in the tier
    kBorrowingLimit,  // of the group or of a cohort above
    kBudget,          // the budget of the group is spent: of no resource
    kCohort,  // the whole cohort has no more that is unused and lent (a group without parent: it itself)
  };
  Kind kind = Kind::kNoQuota;
  bool never = false;  // also of an unused tree
  std::string resource;
  std::string level;      // the group or cohort
  int64_t asked = 0;      // what reaches this level
  int64_t available = 0;  // what it has, not negative
  std::string text;       // a sentence
};

struct AdmissionBorrowing {
  std::string resource;
  int64_t amount = 0;
  std::string cohort;  // the lowest whose own quota suffices
};

struct AdmissionVerdict {
  AdmissionOutcome outcome = AdmissionOutcome::kRefused;
  QuotaUse use;  // all tasks together; what is new in use if it is admitted
  // Of an admitted request what is beyond the group's nominal; none if it fits in its own quota.
  std::vector<AdmissionBorrowing> borrowed;

  // Of one that is not admitted:
  std::vector<AdmissionReason> reasons;  // by resource, then from the group up
  // Queued: when the expected releases let it fit if no one else is admitted before; the last release that it
  // needs. Absent if the ones looked through do not suffice.
  std::optional<Timestamp> probably_at;
  QuotaUse after_release;
  // Queued, and yet within the group's nominal: others borrow what is its own (reclaim.h).
  bool reclaimable = false;
  int64_t fitting_tasks = 0;             // the most of its tasks that fit now
  QuotaVector fitting;                   // the most that fits now of each resource asked for
  std::vector<std::string> other_tiers;  // where it would fit now, by name
};

// `releases` are in the order of their time; one whose time has passed counts as of now, and one of more than
// is in use as of what is in use. NotFound or FailedPrecondition for a group that does not exist or is a
// cohort; InvalidArgument for an unknown tier, nothing asked for, a negative or excessive amount, less than 1
// task, a duration that is negative or above 100 years, or releases found out of order (those after the one
// that makes it fit are not read). A resource that the tree does not know is refused, not an error. O(tiers *
// resources * depth); queued: plus a copy of the tier's resources asked for (O(groups)) and O(max_releases *
// resources * depth).
absl::StatusOr<AdmissionVerdict> DecideAdmission(const QuotaTree& tree, const AdmissionRequest& request,
                                                 std::span<const ExpectedRelease> releases = {},
                                                 const AdmissionOptions& options = {});

// The verdict on the same request of a group that may start nothing new now: refused, `why` (a sentence) before
// other reasons.
AdmissionVerdict Held(AdmissionVerdict verdict, std::string why);

// In a few sentences, for people. No trailing newline.
std::string Explain(const AdmissionVerdict& verdict);

}  // namespace taut::brain
