// Checks before the creation of a task whether the task fits into its group's quota.
//
// The quota service computes the use of jobs by window, and thus includes a replaced task for minutes. LiveQuota
// includes a task, with its requests, exactly while the task's source reports it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "brain/economy/quota_requests.h"
#include "brain/economy/quota_tree.h"
#include "server/pool/group_rules.h"

namespace taut::server {

// A container of a task.
struct LivePart {
  std::string job;  // name of the job
  brain::QuotaVector amounts;
};
struct LiveTask {
  std::string name;  // name, unique among current tasks; "": not assigned yet
  std::string uid;   // ID, unique over time; "": unknown
  std::vector<std::pair<std::string, std::string>> labels;  // labels of the task (JobRecord::labels)
  std::vector<LivePart> parts;
};

// The current tasks and their use of quota. Thread-safe, with one lock.
class LiveQuota {
 public:
  // `hold_s`: quota for a task that fits is held for this time, or until the task is reported.
  explicit LiveQuota(std::function<double()> steady_s, double hold_s = 30)
      : steady_s_(std::move(steady_s)), hold_s_(hold_s) {}

  // Replaces quota and rules. Returns errors of QuotaTree::Make(), and then changes nothing. O(tasks).
  absl::Status SetQuota(const brain::QuotaSpec& spec, GroupRules rules);
  // Replaces the open requests. A request uses, per resource, the larger of the requested amount and the amount of
  // its job's tasks (QuotaRequests). O(tasks of groups with changed requests).
  void SetRequests(std::span<const brain::QuotaRequest> open);

  // Replaces all current tasks.
  void Replace(std::vector<LiveTask> tasks);
  // Adds or updates a current task.
  void Put(LiveTask task);
  // Removes a task by its name and, if known, its UID.
  void Remove(const LiveTask& task);

  enum class Outcome : uint8_t {
    kUnknown,     // no quota was set, or no tasks were reported
    kNotCovered,  // there is no quota for the group, the tier or the resources
    kFits,
    kDoesNotFit
  };
  struct Answer {
    Outcome outcome = Outcome::kUnknown;
    std::vector<std::string> reasons = {};  // sentences; empty unless kDoesNotFit
  };
  // Decides whether `task` fits, in place of the current task with this name, if any. If it fits, quota is held
  // for it, unless `dry_run`. If it does not fit, no quota is held, even if the task is created nevertheless.
  // O(parts * resources * depth * log jobs).
  Answer Ask(const LiveTask& task, bool dry_run);

  // Returns the number of tasks for which quota is held.
  size_t held() const;
  // Returns the task's group by the rules, even if no quota covers it; "" if the task has no group or no quota was
  // set.
  std::string GroupOf(const LiveTask& task) const;

 private:
  struct Key {  // place: a group and a tier
    std::string group, tier;
    auto operator<=>(const Key&) const = default;
  };
  struct Request {
    brain::QuotaVector asked, used;
  };
  struct Place {
    // amounts of each job's tasks; key: name of the job
    std::map<std::string, brain::QuotaVector, std::less<>> jobs;
    std::map<std::string, Request, std::less<>> requests;  // requests; key: name of the job
    brain::QuotaVector without_job;                        // requests without a job
    brain::QuotaVector counted;                            // amount of this place in tree_
  };
  struct Held {
    LiveTask task;
    double until_s = 0;
  };

  // REQUIRES (all functions below): mutex_ is locked.
  bool known() const { return has_quota_ && has_tasks_; }
  std::optional<Key> PlaceOf(const LiveTask& task) const;
  void Count(const LiveTask& task, int64_t sign);
  void CountPart(Place& place, const LivePart& part, int64_t sign);
  void Recount(const Key& key, Place& place);
  void SetCounted(const Key& key, Place& place, const brain::QuotaVector& counted);
  void Unhold(const std::string& key);
  void UnholdIfSame(const LiveTask& task);
  void Expire();
  bool IsCovered(const std::string& group, const std::string& tier) const;
  brain::QuotaVector WithQuota(const brain::QuotaVector& amounts) const;
  static Request* RequestFor(Place& place, std::string_view job);

  const std::function<double()> steady_s_;
  const double hold_s_;
  mutable std::mutex mutex_;
  brain::QuotaTree tree_;
  std::optional<GroupRules> rules_;
  bool has_quota_ = false, has_tasks_ = false;
  std::unordered_map<std::string, LiveTask> tasks_;  // key: name
  std::unordered_map<std::string, Held> held_;       // key: name, or UID if there is no name
  // Ends of holds, ascending, including holds that have been released.
  std::deque<std::pair<double, std::string>> ends_;
  std::map<Key, Place> places_;                // places that the quota covers
  std::vector<brain::QuotaRequest> requests_;  // open requests as last set
  uint64_t nameless_ = 0;
};

}  // namespace taut::server
