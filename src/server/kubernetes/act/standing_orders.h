// The limits in force for the jobs of a cluster, pod by pod: they also apply to pods that are created later.
// Values only: no I/O, clock or lock.
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
  std::optional<double> value;  // cores or bytes of each pod; absent: the owner's amounts
};

class StandingOrders {
 public:
  using Key = std::pair<std::string, Target>;
  struct Entry {
    WorkloadName workload;                      // the job's
    std::optional<StandingOrder> all;           // for the pods that `some` does not name
    std::map<std::string, StandingOrder> some;  // by pod name: a trial
    // Unix time since which the job has no pods; 0: it has some.
    int64_t without_pods_s = 0;
    // The last reported outcome of each decision here.
    std::map<uint64_t, std::pair<Outcome, std::string>> reported;

    // Returns the order for this pod; nullptr if there is none.
    const StandingOrder* Of(const std::string& pod) const;
  };

  // Adds an order; one for all pods ends a trial. Orders that it replaces are superseded, unless they were
  // applied or failed.
  void Take(const TargetOrder& order, const WorkloadName& workload, int64_t now_s,
            std::vector<OutcomeUpdate>& outcomes);
  // Orders the owner's amounts, without a decision, if nothing is ordered. Returns false if something is.
  bool Adopt(const Key& key, const WorkloadName& workload);
  // Adds an outcome of one of the entry's decisions, if it changed.
  void Report(const Key& key, uint64_t decision, Outcome outcome, std::string text, int64_t now_s,
              std::vector<OutcomeUpdate>& outcomes);

  const std::map<Key, Entry>& entries() const { return entries_; }
  const Entry* Find(const Key& key) const;
  void NotePods(const Key& key, bool has_pods, int64_t now_s);
  // Returns the jobs without pods since before this time.
  std::vector<Key> WithoutPodsSince(int64_t time_s) const;
  // Deletes the entry, so that later changes of its pods have no effect.
  void Erase(const Key& key) { entries_.erase(key); }

  void Save(ByteWriter& out) const;
  // Returns the workload of a job for which an older version saved the name alone; nullopt if it is not of
  // this cluster.
  using OfOldName = absl::FunctionRef<std::optional<WorkloadName>(std::string_view job)>;
  // Replaces all entries. Returns false, with none left, if the data is damaged.
  bool Load(ByteReader& in, OfOldName workload_of);

 private:
  std::map<Key, Entry> entries_;
};

}  // namespace taut::server
