// A quota tree, and the job of each use. A job counts once, however often it is reported, admitted or released.
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

// A job that uses quota, or a task of a job. The job or task is admitted and released as a whole.
struct HeldJob {
  std::string id;
  QuotaUse use;
  int32_t priority = 0;
  Timestamp since = {};
  std::optional<Timestamp> expected_end = std::nullopt;
};

// Jobs that use quota. Not thread-safe.
class QuotaLedger {
 public:
  // Creates a ledger without jobs. Returns the errors of QuotaTree::Make.
  static absl::StatusOr<QuotaLedger> Make(const QuotaSpec& spec);

  const QuotaTree& tree() const { return tree_; }
  size_t jobs() const { return jobs_.size(); }
  // Returns the job with this id; null if there is none. Valid until the next change.
  const HeldJob* Find(std::string_view id) const;
  // Returns all jobs, ordered by id. O(jobs log jobs).
  std::vector<HeldJob> Jobs() const;
  // Returns the jobs with an expected end, ordered by their ends, for DecideAdmission. O(jobs log jobs).
  std::vector<ExpectedRelease> Releases() const;

  // Decides like DecideAdmission, and counts the job if it is admitted; otherwise nothing changes. Also returns
  // AlreadyExists for the id of a counted job, and InvalidArgument for an empty id.
  absl::StatusOr<AdmissionVerdict> Admit(std::string_view id, const AdmissionRequest& request,
                                         std::span<const ExpectedRelease> releases = {},
                                         const AdmissionOptions& options = {});
  // Counts a running job even if it does not fit, as after a restart. Returns the errors of QuotaTree::Add, and
  // the errors of Admit for the id.
  absl::Status Take(HeldJob job);
  // Releases a job. Returns false if the ledger does not contain the id, so that releasing a job twice is
  // harmless.
  bool Release(std::string_view id);
  // Applies another quota to the counted jobs. On error nothing changes. The caller obtains warnings from
  // CheckQuota with the current use.
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
