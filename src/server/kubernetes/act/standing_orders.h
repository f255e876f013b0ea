// The limits that are ordered for the jobs of a cluster, pod by pod, for as long as they hold: pods that are
// created later get them too. Values only: no I/O, clock or lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "common/base/bytes.h"
#include "common/model/rollout.h"
#include "server/control/actuator.h"
#include "server/kubernetes/watch/workload_name.h"

namespace taut::server {

struct StandingOrder {
  uint64_t decision = 0;
  std::optional<double> value;  // cores or bytes of each pod; absent: the owner's again
};

class StandingOrders {
 public:
  using Key = std::pair<std::string, Target>;
  struct Entry {
    WorkloadName workload;                      // of the job
    std::optional<StandingOrder> all;           // of the pods that `some` does not name
    std::map<std::string, StandingOrder> some;  // by the pod's name: a trial
    // Unix time since when the job has no pod; 0: it has.
    int64_t without_pods_s = 0;
    // What was last reported of each decision here.
    std::map<uint64_t, std::pair<Outcome, std::string>> reported;

    // nullptr: nothing is ordered for it.
    const StandingOrder* Of(const std::string& pod) const;
  };

  // An order for all pods ends a trial. What it replaces, and has not been applied or failed, is superseded.
  void Take(const TargetOrder& order, const WorkloadName& workload, int64_t now_s,
            std::vector<OutcomeUpdate>& outcomes);
  // The owner's amounts for what nothing is ordered for; no decision says so. False: something is.
  bool Adopt(const Key& key, const WorkloadName& workload);
  // An outcome of a decision of this entry, if it has changed.
  void Report(const Key& key, uint64_t decision, Outcome outcome, std::string text, int64_t now_s,
              std::vector<OutcomeUpdate>& outcomes);

  const std::map<Key, Entry>& entries() const { return entries_; }
  const Entry* Find(const Key& key) const;
  void NotePods(const Key& key, bool has_pods, int64_t now_s);
  // The orders of jobs without pods since before this time.
  std::vector<Key> WithoutPodsSince(int64_t time_s) const;
  // Nothing is ordered any more; the next change of the entry's pods changes nothing.
  void Erase(const Key& key) { entries_.erase(key); }

  void Save(ByteWriter& out) const;
  // The workload of a job, of which an older version saved the name alone; nullopt: it is none of this cluster.
  using OfOldName = absl::FunctionRef<std::optional<WorkloadName>(std::string_view job)>;
  // Replaces the entries. False: damaged, and there are none then.
  bool Load(ByteReader& in, OfOldName workload_of);

 private:
  std::map<Key, Entry> entries_;
};

}  // namespace taut::server
