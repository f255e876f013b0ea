// Which jobs use the quota: the tree's account with a job behind each use, so that a job is counted once
// however often it is reported, admitted or released.
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

// What is admitted and released as a whole: a job, or one of its tasks.
struct HeldJob {
  std::string id;
  QuotaUse use;
  int32_t priority = 0;
  Timestamp since = {};
  std::optional<Timestamp> expected_end = std::nullopt;
};

class QuotaLedger {
 public:
  // Without jobs. InvalidArgument as QuotaTree::Make.
  static absl::StatusOr<QuotaLedger> Make(const QuotaSpec& spec);

  const QuotaTree& tree() const { return tree_; }
  size_t jobs() const { return jobs_.size(); }
  // Null if there is none. Until the next change.
  const HeldJob* Find(std::string_view id) const;
  // By id. O(jobs log jobs).
  std::vector<HeldJob> Jobs() const;
  // Those with an expected end, in its order, as DecideAdmission takes them. O(jobs log jobs).
  std::vector<ExpectedRelease> Releases() const;

  // DecideAdmission, and if it admits, the job is counted; otherwise nothing changes. AlreadyExists for an id
  // that is held, InvalidArgument for an empty one.
  absl::StatusOr<AdmissionVerdict> Admit(std::string_view id, const AdmissionRequest& request,
                                         std::span<const ExpectedRelease> releases = {},
                                         const AdmissionOptions& options = {});
  // Counts a job that runs, whether it fits or not, as after a restart. Errors as QuotaTree::Add and Admit.
  absl::Status Take(HeldJob job);
  // False if no such job is held: releasing twice is the same as once.
  bool Release(std::string_view id);
  // The same jobs under another quota; nothing changes if it has errors. CheckQuota with what is in use has
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
