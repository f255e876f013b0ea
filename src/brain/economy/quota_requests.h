// Requests for quota in all states: queued, admitted, running once their job is measured, or ended. The existing
// requests and the current use of jobs decide on a new request.
//
// GroupUsage counts the open requests (admitted or running) together with jobs and tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/economy/admission.h"
#include "brain/economy/group_usage.h"
#include "brain/economy/quota_request.h"
#include "brain/economy/request_index.h"
#include "common/base/time.h"

namespace taut::brain {

// Bounds on requests, and a hook that holds groups.
struct QuotaRequestsOptions {
  int64_t start_within_s = 3600;  // seconds after which an admitted request without a measured job ends
  // Seconds after which a queued request that can no longer fit, because the quota has changed, is refused.
  int64_t refuse_after_s = 3600;
  size_t max_queued = 10'000;
  // Highest number of queued and open requests of a group without QuotaGroup::max_requests, so that no group can
  // fill the queue.
  size_t max_of_group = 1000;
  // Returns the reason, as a sentence, why a group may not start anything now; "" if the group may start tasks.
  // If null, every group may start tasks. Must be fast, because it is called often.
  std::function<std::string(std::string_view group)> held = nullptr;
};

// Decisions are values that take effect with Apply, so that a caller can store a decision before applying it.
// Not thread-safe.
class QuotaRequests {
 public:
  // Returns the errors of QuotaTree::Make.
  static absl::StatusOr<QuotaRequests> Make(QuotaSpec spec, const QuotaRequestsOptions& options);

  // Returns the decision without any effect. Returns the errors of DecideAdmission. Costs a DecideAdmission, and
  // for a job that runs without a request also a copy of the tree.
  absl::StatusOr<AdmissionVerdict> Decide(const AdmissionRequest& request, std::string_view job = "") const;
  // Returns the new request as admitted, queued, or ended by refusal. The caller must apply the request. Returns
  // the errors of Decide and
  // - AlreadyExists with the id of the group's queued or open request for this job,
  // - FailedPrecondition if the group already has its highest number of requests,
  // - Unavailable if the queue is full.
  absl::StatusOr<QuotaRequest> Submit(const AdmissionRequest& request, std::string_view job,
                                      std::string_view who) const;
  // Returns the request in the ended state. The caller must apply the request. Returns NotFound for an unknown
  // id, FailedPrecondition if the request has already ended.
  absl::StatusOr<QuotaRequest> Withdraw(uint64_t id, std::string_view who, Timestamp now) const;
  // Returns the changes due at `now`, in this order: started jobs, ended requests, and queued requests that fit,
  // by priority and then by age. A request that does not fit does not block later requests (Kueue's
  // BestEffortFIFO). Examines the queue only if more quota may be free than at the last call.
  std::vector<QuotaRequest> Due(Timestamp now);
  // Makes the next call of Due return the last changes again. Call this function if the changes could not be
  // stored or applied.
  void LookAgain() { use_changed_ = room_changed_ = true; }
  // Applies a request that this class returned or that was stored. Replaces a request with an equal id.
  void Apply(QuotaRequest request);
  // Returns the ids of ended requests that ended before `before`, or are not among the newest `most`. Never
  // includes the highest id, because the next id is derived from the highest id.
  std::vector<uint64_t> OldEnded(Timestamp before, size_t most) const;
  // Drops an ended request.
  void Forget(uint64_t id);

  // Completeness of a measurement. kPartial means that some sources of usage may be missing, so that a job
  // without a measurement does not end its request.
  enum class Use : uint8_t { kWhole, kPartial };
  // Sets the use of all jobs as measured at `now`. Jobs that are absent no longer count. O(n log n) for n jobs,
  // plus a recount of all requests.
  void SetUse(std::span<const JobUse> jobs, Timestamp now, Use what = Use::kWhole);
  // Applies another quota to the existing requests and uses. If Make would fail, returns its error and changes
  // nothing.
  absl::Status ChangeQuota(QuotaSpec spec);

  // The counted use of quota. A caller may add and remove tasks, and open a request before the request is applied.
  GroupUsage& usage() { return usage_; }
  const GroupUsage& usage() const { return usage_; }
  const QuotaTree& tree() const { return usage_.tree(); }
  const QuotaSpec& spec() const { return usage_.spec(); }
  // Returns the request or null. Valid until the next change.
  const QuotaRequest* Find(uint64_t id) const;
  // Returns at most `limit` requests that `keep` accepts, the newest first.
  std::vector<QuotaRequest> List(absl::FunctionRef<bool(const QuotaRequest&)> keep, size_t limit) const;
  size_t queued() const { return index_.queued().size(); }
  size_t open() const { return index_.open().size(); }
  uint64_t last_id() const { return last_id_; }

 private:
  QuotaRequests(GroupUsage usage, const QuotaRequestsOptions& options)
      : options_(options), usage_(std::move(usage)) {}

  // Decides on `tree` as if the request's jobs had no use besides the request.
  absl::StatusOr<AdmissionVerdict> DecideOn(const QuotaTree& tree, const AdmissionRequest& request,
                                            std::string_view job,
                                            std::span<const ExpectedRelease> releases) const;
  std::string WhyHeld(std::string_view group) const;
  size_t MaxRequestsOf(std::string_view group) const;  // returns a bound on queued and open requests
  std::vector<ExpectedRelease> Releases() const;
  std::optional<QuotaRequest> DueOf(const QuotaRequest& r, Timestamp now) const;
  bool AdmitQueued(Timestamp now, QuotaTree& tree, std::vector<QuotaRequest>& out);
  std::optional<QuotaRequest> NeverFits(const QuotaRequest& queued, std::string_view why, Timestamp now);

  QuotaRequestsOptions options_;
  GroupUsage usage_;
  std::map<uint64_t, QuotaRequest> requests_;
  RequestIndex index_;
  Use use_is_ = Use::kWhole;
  std::optional<Timestamp> use_at_;  // time of the last SetUse
  bool room_changed_ = true;         // true if quota may have become free since the queue was last examined
  bool use_changed_ = false;         // true if SetUse was called since the last Due
  // Groups whose queued requests were held when the queue was last examined.
  std::set<std::string> held_queue_;
  // Queued requests that cannot fit, by id, with the time at which this process first detected that they cannot
  // fit.
  std::map<uint64_t, Timestamp> never_fits_;
  std::vector<uint64_t> opened_;  // requests that Apply opened since the last Due
  uint64_t last_id_ = 0;
};

}  // namespace taut::brain
