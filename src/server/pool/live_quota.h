// Quota against the tasks that are there now: whether one more fits, before it is created.
//
// The quota service counts what jobs use by the window, so that a task that was replaced counts for minutes. Here
// tasks count from when they are there until they are gone, as their source reports it, with what they request.
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
  std::string job;  // its name
  brain::QuotaVector amounts;
};
struct LiveTask {
  std::string name;  // of no other task that is there; "": it has none yet
  std::string uid;   // of no task that was there before; "": not known
  std::vector<std::pair<std::string, std::string>> labels;  // as JobRecord::labels
  std::vector<LivePart> parts;
};

// Thread-safe; one lock.
class LiveQuota {
 public:
  // A task that fits holds its room until it is there, or for `hold_s`.
  explicit LiveQuota(std::function<double()> steady_s, double hold_s = 30)
      : steady_s_(std::move(steady_s)), hold_s_(hold_s) {}

  // InvalidArgument as QuotaTree::Make; nothing changes then. O(tasks).
  absl::Status SetQuota(const brain::QuotaSpec& spec, GroupRules rules);
  // The open requests, all of them: of each the larger counts, by resource, of what it asked for and what the
  // tasks of its job have (QuotaRequests). O(tasks of the groups whose requests changed).
  void SetRequests(std::span<const brain::QuotaRequest> open);

  // All tasks that are there.
  void Replace(std::vector<LiveTask> tasks);
  // One that is there, new or changed.
  void Put(LiveTask task);
  // One that is gone, by its name and, where it is known, its UID.
  void Remove(const LiveTask& task);

  enum class Outcome : uint8_t {
    kUnknown,     // no quota was set, or the tasks were not reported yet
    kNotCovered,  // no quota covers its group or tier, or it asks for nothing that has quota
    kFits,
    kDoesNotFit
  };
  struct Answer {
    Outcome outcome = Outcome::kUnknown;
    std::vector<std::string> reasons = {};  // kDoesNotFit: sentences
  };
  // Whether `task` fits in place of the one of its name, if there is one. One that fits holds its room, unless
  // `dry_run`. One that does not holds none, also where it is created all the same. O(parts * resources * depth *
  // log jobs).
  Answer Ask(const LiveTask& task, bool dry_run);

  size_t held() const;
  // By the rules alone, whether or not quota covers it; "": of none, or no quota was set.
  std::string GroupOf(const LiveTask& task) const;

 private:
  struct Key {  // of a group and a tier
    std::string group, tier;
    auto operator<=>(const Key&) const = default;
  };
  struct Request {
    brain::QuotaVector asked, used;
  };
  struct Place {
    std::map<std::string, brain::QuotaVector, std::less<>> jobs;  // what the tasks of each have
    std::map<std::string, Request, std::less<>> requests;         // by their job
    brain::QuotaVector without_job;                               // of requests that are for no job
    brain::QuotaVector counted;                                   // of the place in tree_
  };
  struct Held {
    LiveTask task;
    double until_s = 0;
  };

  // All REQUIRE mutex_.
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
  std::unordered_map<std::string, LiveTask> tasks_;  // by name
  std::unordered_map<std::string, Held> held_;       // by name, or UID
  std::deque<std::pair<double, std::string>>
      ends_;                                   // of held_, ascending; also of some that are held no longer
  std::map<Key, Place> places_;                // that the quota covers
  std::vector<brain::QuotaRequest> requests_;  // as set last
  uint64_t nameless_ = 0;
};

}  // namespace taut::server
