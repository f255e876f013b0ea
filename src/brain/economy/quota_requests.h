// Requests for quota in all states: queued or admitted, running once their job is measured, ended. A new request
// is decided by the existing requests and the current use of jobs.
//
// An open request (admitted or running) counts, by resource, with the larger of the requested amount and its job's
// use. A job without a request counts with its use. No job therefore counts twice, and granted quota stays granted
// until the request ends.
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
#include "brain/economy/quota_request.h"
#include "brain/economy/quota_tree.h"
#include "brain/economy/request_index.h"
#include "common/base/time.h"

namespace taut::brain {

// Use of a job, and the group and tier for which the use counts.
struct JobUse {
  std::string job, group, tier;
  int64_t cpu_millicores = 0, memory_bytes = 0;            // >= 0: amounts that count: the job's limits
  int64_t used_cpu_millicores = 0, used_memory_bytes = 0;  // >= 0: the job's real usage
};

// Use in a group or tier that the quota specification does not have.
struct UncoveredUse {
  std::string group, tier;
  uint64_t jobs = 0;      // jobs without a request
  std::string first_job;  // first name in order
  uint64_t requests = 0;  // open requests
  QuotaVector amounts;    // of jobs and requests
};

// Bounds on requests, and a hook that holds groups.
struct QuotaRequestsOptions {
  int64_t start_within_s = 3600;  // time until an admitted request without a measured job ends
  // Time until a queued request that can no longer fit, because the quota changed, is refused.
  int64_t refuse_after_s = 3600;
  size_t max_queued = 10'000;
  // Most queued and open requests of a group without QuotaGroup::max_requests, so that no group fills the queue.
  size_t max_of_group = 1000;
  // Returns why a group may not start anything now, as a sentence; "" if the group may start tasks. Null: every
  // group may. The function is called often and must be fast.
  std::function<std::string(std::string_view group)> held = nullptr;
};

// Not thread-safe. Decisions are values that take effect with Apply, so that a caller can store a decision before
// it applies the decision.
class QuotaRequests {
 public:
  // Returns the errors of QuotaTree::Make.
  static absl::StatusOr<QuotaRequests> Make(QuotaSpec spec, const QuotaRequestsOptions& options);

  // Returns the decision without any effect, or the errors of DecideAdmission. Has the cost of DecideAdmission,
  // and for a job that runs without a request also copies the tree.
  absl::StatusOr<AdmissionVerdict> Decide(const AdmissionRequest& request, std::string_view job = "") const;
  // Returns the new request in the state admitted, queued, or ended as refused; the caller applies the request.
  // Returns the errors of Decide and
  // - AlreadyExists with the id of a queued or open request of the group for the same job,
  // - FailedPrecondition if the group already has its maximum of requests,
  // - Unavailable if the queue is full.
  absl::StatusOr<QuotaRequest> Submit(const AdmissionRequest& request, std::string_view job,
                                      std::string_view who) const;
  // Returns the request in the ended state; the caller applies the request. Returns NotFound for an unknown id,
  // FailedPrecondition if the request has already ended.
  absl::StatusOr<QuotaRequest> Withdraw(uint64_t id, std::string_view who, Timestamp now) const;
  // Returns the changes due at `now`, in this order: started jobs, ended requests, and queued requests that
  // fit, by priority and then age. A request that does not fit does not block later ones (Kueue's
  // BestEffortFIFO). The queue is examined only if there may be more room than at the last call.
  std::vector<QuotaRequest> Due(Timestamp now);
  // Makes the next call of Due return the last changes again, for a caller that could not store or apply the
  // changes.
  void LookAgain() { use_changed_ = room_changed_ = true; }
  // Applies a request that this class returned, or a stored request; replaces the request with the same id.
  void Apply(QuotaRequest request);
  // Returns the ids of ended requests that ended before `before` or are not among the newest `most`. Never
  // includes the highest id, because the next id is derived from it.
  std::vector<uint64_t> OldEnded(Timestamp before, size_t most) const;
  // Drops an ended request.
  void Forget(uint64_t id);

  // Completeness of a measurement. kPartial: some sources of usage may be missing, so an unmeasured job does not
  // end its request.
  enum class Use : uint8_t { kWhole, kPartial };
  // Sets the use of all jobs as measured at `now`; jobs that are absent no longer count. O(n log n) for n jobs,
  // plus a recount of all requests.
  void SetUse(std::span<const JobUse> jobs, Timestamp now, Use what = Use::kWhole);
  // Applies another quota to the existing requests and use. Returns the errors of Make and then changes nothing.
  absl::Status ChangeQuota(QuotaSpec spec);

  const QuotaTree& tree() const { return tree_; }
  const QuotaSpec& spec() const { return spec_; }
  std::span<const UncoveredUse> uncovered() const { return uncovered_; }  // ordered by group, then tier
  // Returns the request or null. Valid until the next change.
  const QuotaRequest* Find(uint64_t id) const;
  // Returns at most `limit` requests that `keep` accepts, newest first.
  std::vector<QuotaRequest> List(absl::FunctionRef<bool(const QuotaRequest&)> keep, size_t limit) const;
  size_t queued() const { return index_.queued().size(); }
  size_t open() const { return index_.open().size(); }
  uint64_t last_id() const { return last_id_; }

 private:
  struct Entry {
    QuotaRequest request;
    QuotaVector live;       // use of the request's jobs, as of the last SetUse
    bool measured = false;  // true if a job of the request was measured at the last SetUse
  };
  struct Job {
    JobUse use;
    uint64_t owner = 0;  // open request that the job counts with; 0: none
  };
  using Range = std::pair<size_t, size_t>;  // half-open range of indices in jobs_

  QuotaRequests(QuotaSpec spec, const QuotaRequestsOptions& options) : options_(options) {
    SetSpec(std::move(spec));
  }
  void SetSpec(QuotaSpec spec);

  // Functions that count uses.
  QuotaVector CountedOf(const Entry& entry) const;
  QuotaUse UseOf(const Entry& entry) const {
    return {entry.request.asked.group, entry.request.asked.tier, CountedOf(entry)};
  }
  void Count(const Entry& entry) { Change(tree_, UseOf(entry), true); }
  void Uncount(const Entry& entry) { Change(tree_, UseOf(entry), false); }
  static void Change(QuotaTree& tree, const QuotaUse& use, bool more);
  void Recount();
  void FindUncovered();

  // Functions that assign jobs to requests.
  std::vector<Range> JobsOf(std::string_view job) const;
  bool AnyJobOf(const AdmissionRequest& request, std::string_view job) const;
  uint64_t OwnerOf(const JobUse& use) const;
  void Give(Job& job, uint64_t owner, uint64_t uncounted);
  // Subtracts from `tree` the use of the jobs of a request that is not open.
  void LeaveOutJobs(const AdmissionRequest& request, std::string_view job, QuotaTree& tree) const;

  // Decides as if the request's jobs used nothing besides the request.
  absl::StatusOr<AdmissionVerdict> DecideOn(const QuotaTree& tree, const AdmissionRequest& request,
                                            std::string_view job,
                                            std::span<const ExpectedRelease> releases) const;
  std::string WhyHeld(std::string_view group) const;
  size_t MaxRequestsOf(std::string_view group) const;  // queued and open requests
  std::vector<ExpectedRelease> Releases() const;
  std::optional<QuotaRequest> DueOf(const Entry& entry, Timestamp now) const;
  bool AdmitQueued(Timestamp now, QuotaTree& tree, std::vector<QuotaRequest>& out);
  std::optional<QuotaRequest> NeverFits(const QuotaRequest& queued, std::string_view why, Timestamp now);

  QuotaSpec spec_;
  std::map<std::string, size_t, std::less<>> max_of_;  // QuotaGroup::max_requests of groups with a value
  QuotaRequestsOptions options_;
  QuotaTree tree_;
  std::vector<UncoveredUse> uncovered_;
  std::map<uint64_t, Entry> requests_;
  RequestIndex index_;
  std::vector<Job> jobs_;  // by name
  Use use_is_ = Use::kWhole;
  std::optional<Timestamp> use_at_;  // time of the last SetUse
  bool room_changed_ = true;         // true: quota may have become free since the queue was last examined
  bool use_changed_ = false;         // true: SetUse was called since the last Due
  // Groups whose queued requests were held when the queue was last examined.
  std::set<std::string> held_queue_;
  // Queued requests that cannot fit, with the time since which this process has known that they cannot fit.
  std::map<uint64_t, Timestamp> never_fits_;
  std::vector<uint64_t> opened_;  // requests that were applied as open since the last Due
  uint64_t last_id_ = 0;
};

}  // namespace taut::brain
