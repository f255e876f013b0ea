// Requests for quota over their life: queued or admitted, running once their job is measured, ended. Beside what
// jobs use now, it is what the next request is decided on.
//
// An open request (admitted or running) counts with the larger, by resource, of what it asked for and what its
// job uses. A job without a request counts with what it uses. So a job is never counted twice, and room that was
// granted stays granted until the request ends.
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

// What a job uses, and where that counts.
struct JobUse {
  std::string job, group, tier;
  int64_t cpu_millicores = 0, memory_bytes = 0;            // >= 0: what counts, its limits
  int64_t used_cpu_millicores = 0, used_memory_bytes = 0;  // >= 0: what it really used
};

// Use that no quota covers: of groups or tiers that the quota does not have.
struct UncoveredUse {
  std::string group, tier;
  uint64_t jobs = 0;      // without a request
  std::string first_job;  // by name
  uint64_t requests = 0;  // open ones
  QuotaVector amounts;    // of both
};

struct QuotaRequestsOptions {
  int64_t start_within_s = 3600;  // an admitted request whose job was not measured by then ends
  // A queued request that can never fit, since the quota was changed, is refused then.
  int64_t refuse_after_s = 3600;
  size_t max_queued = 10'000;
  // Queued and open ones of a group whose quota does not say it: no group takes all of the queue.
  size_t max_of_group = 1000;
  // Why a group may start nothing new now, a sentence; "": it may. Null: each may. Be quick.
  std::function<std::string(std::string_view group)> held = nullptr;
};

// One thread. Decisions are values: they count after Apply, so that a caller can store them first.
class QuotaRequests {
 public:
  // InvalidArgument as QuotaTree::Make.
  static absl::StatusOr<QuotaRequests> Make(QuotaSpec spec, const QuotaRequestsOptions& options);

  // A dry run. Errors as DecideAdmission. Cost as DecideAdmission; of a job that runs without a
  // request, plus a copy of the tree.
  absl::StatusOr<AdmissionVerdict> Decide(const AdmissionRequest& request, std::string_view job = "") const;
  // The request as it would be kept: admitted, queued, or ended as refused. Errors as Decide; AlreadyExists with
  // the number of the open or queued request of the same group for the same job; FailedPrecondition if the group
  // has as many open and queued requests as it may; Unavailable if the queue is full.
  absl::StatusOr<QuotaRequest> Submit(const AdmissionRequest& request, std::string_view job,
                                      std::string_view who) const;
  // The request as ended. NotFound; FailedPrecondition if it has ended.
  absl::StatusOr<QuotaRequest> Withdraw(uint64_t id, std::string_view who, Timestamp now) const;
  // What changes by itself at `now`, in this order: jobs that started, requests that end, and queued ones that
  // fit, by priority, then age. A request that does not fit does not hold up those after it (Kueue's
  // BestEffortFIFO). The queue is gone through only if there may be more room than at the last call.
  std::vector<QuotaRequest> Due(Timestamp now);
  // What Due said was not stored and is not applied: the next call says it again.
  void LookAgain() { use_changed_ = room_changed_ = true; }
  // A request of one of these, or one that was stored, replaces the one of its number.
  void Apply(QuotaRequest request);
  // Ended requests that ended before `before`, and the oldest of those beyond the newest `most`; never the one
  // with the highest number, which the next number follows.
  std::vector<uint64_t> OldEnded(Timestamp before, size_t most) const;
  // Of a request that has ended.
  void Forget(uint64_t id);

  // What all jobs use, as measured at `now`. Jobs measured before and absent now count no more. kPartial: some
  // sources of usage may be missing, so that no request ends because its job is not measured.
  enum class Use : uint8_t { kWhole, kPartial };
  void SetUse(std::span<const JobUse> jobs, Timestamp now, Use what = Use::kWhole);
  // The same requests and use under another quota. Errors as Make; nothing changes then.
  absl::Status ChangeQuota(QuotaSpec spec);

  const QuotaTree& tree() const { return tree_; }
  const QuotaSpec& spec() const { return spec_; }
  std::span<const UncoveredUse> uncovered() const { return uncovered_; }  // by group, then tier
  // Null if it is not kept. Until the next change.
  const QuotaRequest* Find(uint64_t id) const;
  // Newest first, without those that `keep` refuses, at most `limit`.
  std::vector<QuotaRequest> List(absl::FunctionRef<bool(const QuotaRequest&)> keep, size_t limit) const;
  size_t queued() const { return index_.queued().size(); }
  size_t open() const { return index_.open().size(); }
  uint64_t last_id() const { return last_id_; }

 private:
  struct Entry {
    QuotaRequest request;
    QuotaVector live;       // of its job, as measured last
    bool measured = false;  // then
  };
  struct Job {
    JobUse use;
    uint64_t owner = 0;  // the open request it is counted with; 0: none
  };
  using Range = std::pair<size_t, size_t>;  // of jobs_, half-open

  QuotaRequests(QuotaSpec spec, const QuotaRequestsOptions& options) : options_(options) {
    SetSpec(std::move(spec));
  }
  void SetSpec(QuotaSpec spec);

  // What is counted, and counting it.
  QuotaVector CountedOf(const Entry& entry) const;
  QuotaUse UseOf(const Entry& entry) const {
    return {entry.request.asked.group, entry.request.asked.tier, CountedOf(entry)};
  }
  void Count(const Entry& entry) { Change(tree_, UseOf(entry), true); }
  void Uncount(const Entry& entry) { Change(tree_, UseOf(entry), false); }
  static void Change(QuotaTree& tree, const QuotaUse& use, bool more);
  void Recount();
  void FindUncovered();

  // Jobs and the requests for them.
  std::vector<Range> JobsOf(std::string_view job) const;
  bool AnyJobOf(const AdmissionRequest& request, std::string_view job) const;
  uint64_t OwnerOf(const JobUse& use) const;
  void Give(Job& job, uint64_t owner, uint64_t uncounted);
  // `tree` without what the jobs of a request that is not open use now.
  void LeaveOutJobs(const AdmissionRequest& request, std::string_view job, QuotaTree& tree) const;

  // As if the jobs of the request used nothing beside it.
  absl::StatusOr<AdmissionVerdict> DecideOn(const QuotaTree& tree, const AdmissionRequest& request,
                                            std::string_view job,
                                            std::span<const ExpectedRelease> releases) const;
  std::string WhyHeld(std::string_view group) const;
  size_t MaxRequestsOf(std::string_view group) const;  // queued or open ones
  std::vector<ExpectedRelease> Releases() const;
  std::optional<QuotaRequest> DueOf(const Entry& entry, Timestamp now) const;
  bool AdmitQueued(Timestamp now, QuotaTree& tree, std::vector<QuotaRequest>& out);
  std::optional<QuotaRequest> NeverFits(const QuotaRequest& queued, std::string_view why, Timestamp now);

  QuotaSpec spec_;
  std::map<std::string, size_t, std::less<>> max_of_;  // QuotaGroup::max_requests of those that say it
  QuotaRequestsOptions options_;
  QuotaTree tree_;
  std::vector<UncoveredUse> uncovered_;
  std::map<uint64_t, Entry> requests_;
  RequestIndex index_;
  std::vector<Job> jobs_;  // by name
  Use use_is_ = Use::kWhole;
  std::optional<Timestamp> use_at_;   // of the last SetUse
  bool room_changed_ = true;          // since the queue was looked at
  bool use_changed_ = false;          // since Due
  std::set<std::string> held_queue_;  // groups of queued requests that were held when the queue was looked at
  std::map<uint64_t, Timestamp> never_fits_;  // queued ones, since when as far as this process knows
  std::vector<uint64_t> opened_;              // likewise: requests that were applied as open
  uint64_t last_id_ = 0;
};

}  // namespace taut::brain
