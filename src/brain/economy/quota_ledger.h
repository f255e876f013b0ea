// Jobs that use quota: the tree's accounts with the job behind each use, so that a job counts once, however
// often it is reported, admitted or released.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/economy/admission.h"
#include "brain/economy/quota_tree.h"
#include "common/base/time.h"

namespace taut::brain {

// A job, or one of its tasks, which is admitted and released as a whole.
struct HeldJob {
  std::string id;
  QuotaUse use;
  int32_t priority = 0;
  Timestamp since = {};
  std::optional<Timestamp> expected_end = std::nullopt;
};

// One thread.
class QuotaLedger {
 public:
  // Creates a ledger without jobs. Returns the errors of QuotaTree::Make.
  static absl::StatusOr<QuotaLedger> Make(const QuotaSpec& spec);

  const QuotaTree& tree() const { return tree_; }
  size_t jobs() const { return jobs_.size(); }
  // Returns the job or null. Valid until the next change.
  const HeldJob* Find(std::string_view id) const;
  // Returns all jobs, ordered by id. O(jobs log jobs).
  std::vector<HeldJob> Jobs() const;
  // Returns the jobs with an expected end, ordered by it, as DecideAdmission requires. O(jobs log jobs).
  std::vector<ExpectedRelease> Releases() const;

  // Decides like DecideAdmission and, if admitted, counts the job; otherwise nothing changes. Returns
  // AlreadyExists for an id that is held, InvalidArgument for an empty one.
  absl::StatusOr<AdmissionVerdict> Admit(std::string_view id, const AdmissionRequest& request,
                                         std::span<const ExpectedRelease> releases = {},
                                         const AdmissionOptions& options = {});
  // Counts a running job whether it fits or not, as after a restart. Returns the errors of QuotaTree::Add
  // and, for the id, of Admit.
  absl::Status Take(HeldJob job);
  // Releases a job. Returns false if no such job is held, so releasing twice is harmless.
  bool Release(std::string_view id);
  // Applies another quota to the same jobs; on error nothing changes. CheckQuota with the current use returns
  // the warnings.
  absl::Status ChangeQuota(const QuotaSpec& spec);

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view id) const { return std::hash<std::string_view>{}(id); }
  };
  absl::Status CheckId(std::string_view id) const;

  QuotaTree tree_;
  std::unordered_map<std::string, HeldJob, Hash, std::equal_to<>> jobs_;
};

}  // namespace taut::brain
