// Counts the tasks of a source as use of their groups, and decides on new tasks before they are created.
//
// While a source reports a task, the task's requests count instead of the measured use of its job (GroupUsage).
// An admitted task also counts for a limited time before it is reported.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "brain/economy/group_usage.h"
#include "server/pool/group_rules.h"

namespace taut::server {

// A container of a task.
struct LivePart {
  std::string job;
  brain::QuotaVector amounts;
};
struct LiveTask {
  std::string name;  // name, unique among current tasks; "": not assigned yet
  std::string uid;   // ID, unique over time; "": unknown
  std::vector<std::pair<std::string, std::string>> labels;  // labels of the task (JobRecord::labels)
  std::vector<LivePart> parts;
};

// Thread-safe: locks the mutex that the constructor receives.
class LiveQuota {
 public:
  // `mutex` guards `usage` and `rules`; all three must outlive this object. A task that fits counts for `hold_s`
  // seconds, or until it is reported.
  LiveQuota(std::mutex& mutex, brain::GroupUsage& usage, const GroupRules& rules,
            std::function<double()> steady_s, double hold_s)
      : mutex_(mutex), usage_(usage), rules_(rules), steady_s_(std::move(steady_s)), hold_s_(hold_s) {}

  // Replaces all current tasks.
  void Replace(std::vector<LiveTask> tasks);
  // Adds or updates a current task.
  void Put(LiveTask task);
  // Removes a task by its name and, if known, its UID.
  void Remove(const LiveTask& task);
  // Recounts the tasks by the current rules, after a change of the rules. REQUIRES: the caller holds the mutex.
  void Regroup();

  enum class Outcome : uint8_t {
    kUnknown,     // no tasks were reported yet
    kNotCovered,  // no quota for the task's group, tier or resources
    kFits,
    kDoesNotFit
  };
  struct Answer {
    Outcome outcome = Outcome::kUnknown;
    std::vector<std::string> reasons = {};  // sentences; empty unless kDoesNotFit
  };
  // Decides whether `task` fits, if it replaces the current task with this name. A task that fits is held: it
  // counts from now on, unless `dry_run`. A task that does not fit is not held, even if it is created
  // nevertheless. O(parts * resources * depth * log jobs).
  Answer Ask(const LiveTask& task, bool dry_run);

  // Returns the number of held tasks.
  size_t held() const;
  // Returns the task's group by the rules, even if no quota covers the group; "" if the task has no group.
  std::string GroupOf(const LiveTask& task) const;

 private:
  struct Held {
    LiveTask task;
    double until_s = 0;
  };

  // The functions below REQUIRE mutex_.
  GroupRules::Place PlaceOf(const LiveTask& task) const;
  std::vector<brain::TaskUse> UseOf(const LiveTask& task) const { return UseOf(task, PlaceOf(task)); }
  static std::vector<brain::TaskUse> UseOf(const LiveTask& task, const GroupRules::Place& place);
  void Unhold(const std::string& key);
  void UnholdIfSame(const LiveTask& task);
  void Expire();
  // Decides whether the quota covers the increase that the task causes in the use of its group. Holds nothing.
  Answer Decide(const LiveTask& task, const GroupRules::Place& place, std::span<const brain::TaskUse> use);

  std::mutex& mutex_;
  brain::GroupUsage& usage_;
  const GroupRules& rules_;
  const std::function<double()> steady_s_;
  const double hold_s_;
  bool has_tasks_ = false;
  std::unordered_map<std::string, LiveTask> tasks_;  // tasks by name
  std::unordered_map<std::string, Held> held_;       // held tasks by name, or by UID if a task has no name
  // Ends of holds, ascending; includes tasks for which no quota is held any more.
  std::deque<std::pair<double, std::string>> ends_;
  uint64_t nameless_ = 0;
};

}  // namespace taut::server
