// The one count of what groups use of their quota: jobs as windows measure them, tasks as their source reports
// them, and open requests. No clock and no I/O.
//
// A job counts once, whatever reports it. While a source reports tasks of a job, the job counts with the requests
// of these tasks. A resource that no task requests, and a job without reported tasks, count with the measured use.
// After the last reported task of a job has ended, the measured use counts again only if a later window measures
// the job, because the windows until then measured the task.
//
// An open request (admitted or running) counts, by resource, with the larger of the requested amount and the use
// of its jobs. Granted quota therefore stays granted until the request ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "brain/economy/quota_request.h"
#include "brain/economy/quota_tree.h"
#include "common/base/time.h"

namespace taut::brain {

// Measured use of a job, and the group and tier for which the use counts.
struct JobUse {
  std::string job, group, tier;
  int64_t cpu_millicores = 0, memory_bytes = 0;            // >= 0: amounts that count: the job's limits
  int64_t used_cpu_millicores = 0, used_memory_bytes = 0;  // >= 0: the job's real usage
  int64_t seen_s = 0;                                      // end of the last window that measured the job
};

// The request of a part of a task, such as a container of a pod.
struct TaskUse {
  std::string job, group, tier;
  QuotaVector amounts;
};

// Use in a group or tier that the quota specification does not have.
struct UncoveredUse {
  std::string group, tier;
  uint64_t jobs = 0;      // jobs without a request
  std::string first_job;  // first name in order
  uint64_t requests = 0;  // open requests
  QuotaVector amounts;    // of jobs and requests
};

// Not thread-safe. Functions without a bound in their comment are O((parts + jobs of the request) * log n).
class GroupUsage {
 public:
  // Returns the errors of QuotaTree::Make.
  static absl::StatusOr<GroupUsage> Make(QuotaSpec spec);
  // Applies another quota to the same use. Returns the errors of Make and then changes nothing. O(n log n).
  absl::Status ChangeQuota(QuotaSpec spec);

  // Sets the measured use of all jobs, as of the window that ends at `now`. Absent jobs have no measured use.
  // O(n log n) for n jobs.
  void SetMeasured(std::span<const JobUse> jobs, Timestamp now);
  void AddTask(std::span<const TaskUse> parts);
  // Removes a task that AddTask added. `ended`: the task ended; false: it was never there, or is added again.
  void RemoveTask(std::span<const TaskUse> parts, bool ended);
  // Removes all tasks, which are added again with other groups. O(n log n).
  void ClearTasks();
  // Counts a request as open. No effect if the request is open already, because its amounts never change.
  void Open(const QuotaRequest& request);
  // Ends the count of a request. No effect if the request is not open.
  void Close(uint64_t id);

  const QuotaTree& tree() const { return tree_; }
  const QuotaSpec& spec() const { return spec_; }
  // As of the last SetMeasured or ChangeQuota. Ordered by group, then tier.
  std::span<const UncoveredUse> uncovered() const { return uncovered_; }
  bool IsOpen(uint64_t id) const { return requests_.contains(id); }
  // Returns true if a job of the open request is measured.
  bool IsMeasured(uint64_t id) const;
  // Returns the amounts that an open request counts with.
  QuotaUse UseOf(uint64_t id) const;
  // Returns what the group uses in the tier, by resources with quota. REQUIRES: Covers.
  QuotaVector InUse(std::string_view group, std::string_view tier) const;
  // Returns true if the quota has this group and tier.
  bool Covers(std::string_view group, std::string_view tier) const;

  // Returns true if a job uses quota that a new request for `job` would cover.
  bool HasJobs(const AdmissionRequest& request, std::string_view job) const;
  // Removes from a tree the use of these jobs, as far as no open request covers it.
  void LeaveOutJobs(const AdmissionRequest& request, std::string_view job, QuotaTree& tree) const;
  // Returns the tree as if these open requests were closed. Also copies the tree.
  QuotaTree Without(std::span<const uint64_t> ids) const;
  // Adds use to a tree, or removes it, where the tree has the group, tier and resource.
  static void Change(QuotaTree& tree, const QuotaUse& use, bool more);

 private:
  struct Job {
    std::optional<JobUse> measured;  // without the name
    std::vector<QuotaUse> tasks;     // sums by group and tier
    size_t parts = 0;                // parts of tasks
    int64_t ended_s = INT64_MIN;     // windows up to here measured tasks that have ended
  };
  struct Request {
    std::string group, tier, job;
    QuotaVector asked;
    QuotaVector live;  // use of the request's jobs
  };
  using Jobs = std::map<std::string, Job, std::less<>>;

  static void ForEachUse(const Job& job, absl::FunctionRef<void(const QuotaUse&)> note);
  void ForEachJobOf(std::string_view job, absl::FunctionRef<void(const std::string&, const Job&)> note) const;
  QuotaUse UseOf(const Request& request) const {
    return {request.group, request.tier, Larger(request.asked, request.live)};
  }
  uint64_t OwnerOf(const QuotaUse& use, std::string_view job) const;
  void Count(const std::string& name, const Job& job, bool more);
  void Recount();

  QuotaSpec spec_;
  QuotaTree tree_;
  std::vector<UncoveredUse> uncovered_;
  Jobs jobs_;
  std::map<uint64_t, Request> requests_;
  // Open requests by group and then job, so that requests of different groups do not conflict.
  std::map<std::string, std::map<std::string, uint64_t, std::less<>>, std::less<>> by_job_;
  int64_t window_end_s_ = INT64_MIN;  // of the last SetMeasured
};

}  // namespace taut::brain
