// Counts the quota that groups use: by jobs as measured in windows, by tasks as reported by a source, and by open
// requests. No clock and no I/O.
//
// A job is counted only once. While a source reports tasks of a job, the tasks' requests are counted. The measured
// use is counted for a resource that no task requests, and for a job without reported tasks. After the last
// reported task of a job has ended, the measured use is counted again only if a later window measures the job.
// Earlier windows still measured the ended task.
//
// For an open request (admitted or running), the larger of the requested amount and the use of its jobs is
// counted, by resource. Granted quota therefore stays granted until the request ends.
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
  int64_t cpu_millicores = 0, memory_bytes = 0;            // limits of the job, which count as use; >= 0
  int64_t used_cpu_millicores = 0, used_memory_bytes = 0;  // measured usage of the job, >= 0
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
  uint64_t jobs = 0;      // number of jobs without a request
  std::string first_job;  // lowest of the jobs' names
  uint64_t requests = 0;  // number of open requests
  QuotaVector amounts;    // amounts of jobs and requests
};

// Not thread-safe. A function whose comment has no complexity costs O((parts + jobs of the request) * log n).
class GroupUsage {
 public:
  // Returns the errors of QuotaTree::Make.
  static absl::StatusOr<GroupUsage> Make(QuotaSpec spec);
  // Applies another quota to the same use. If Make fails, returns its error and changes nothing. O(n log n).
  absl::Status ChangeQuota(QuotaSpec spec);

  // Sets the measured use of all jobs in the window that ends at `now`. A job that is not in `jobs` has no
  // measured use. O(n log n) for n jobs.
  void SetMeasured(std::span<const JobUse> jobs, Timestamp now);
  void AddTask(std::span<const TaskUse> parts);
  // Removes a task that AddTask added. `ended` is false if the task never ran or will be added again.
  void RemoveTask(std::span<const TaskUse> parts, bool ended);
  // Removes all tasks, so that the caller can add the tasks again with other groups. O(n log n).
  void ClearTasks();
  // Counts a request as open. No effect if the request is open already, because its amounts never change.
  void Open(const QuotaRequest& request);
  // Stops counting a request. No effect if the request is not open.
  void Close(uint64_t id);

  const QuotaTree& tree() const { return tree_; }
  const QuotaSpec& spec() const { return spec_; }
  // Returns the uncovered use at the last SetMeasured or ChangeQuota, ordered by group, then tier.
  std::span<const UncoveredUse> uncovered() const { return uncovered_; }
  bool IsOpen(uint64_t id) const { return requests_.contains(id); }
  // Returns true if a job of the open request is measured.
  bool IsMeasured(uint64_t id) const;
  // Returns the use with which an open request counts. REQUIRES: IsOpen(id).
  QuotaUse UseOf(uint64_t id) const;
  // Returns the group's use in the tier, for the resources with quota. REQUIRES: Covers(group, tier).
  QuotaVector InUse(std::string_view group, std::string_view tier) const;
  // Returns true if the quota has this group and tier.
  bool Covers(std::string_view group, std::string_view tier) const;

  // Returns true if a job uses quota that a new request for `job` would cover.
  bool HasJobs(const AdmissionRequest& request, std::string_view job) const;
  // Subtracts the use of the jobs that HasJobs examines from `tree`, except for use that an open request covers.
  void LeaveOutJobs(const AdmissionRequest& request, std::string_view job, QuotaTree& tree) const;
  // Returns a copy of the tree as if these open requests were closed. The copy adds O(size of the tree) to the
  // cost.
  QuotaTree Without(std::span<const uint64_t> ids) const;
  // Adds `use` to a tree, or subtracts it if `more` is false. Ignores a group, tier or resource that the tree
  // lacks.
  static void Change(QuotaTree& tree, const QuotaUse& use, bool more);

 private:
  struct Job {
    std::optional<JobUse> measured;  // measured use, with an empty job name
    std::vector<QuotaUse> tasks;     // sums by group and tier
    size_t parts = 0;                // number of parts of tasks
    int64_t ended_s = INT64_MIN;     // latest end of a window that may have measured a task that has ended
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
  int64_t window_end_s_ = INT64_MIN;  // window end of the last SetMeasured; INT64_MIN: none
};

}  // namespace taut::brain
