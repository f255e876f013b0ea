// Orders in force for the jobs of a cluster, also for single pods during a trial. The orders apply to later pods,
// too. No I/O, clock or lock.
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
  std::optional<double> value;  // amount in cores or bytes per pod; absent: the owner's amounts
};

class StandingOrders {
 public:
  using Key = std::pair<std::string, Target>;
  struct Entry {
    WorkloadName workload;                      // the job's workload
    std::optional<StandingOrder> all;           // order for all pods that are not in `some`
    std::map<std::string, StandingOrder> some;  // orders of a trial by pod name
    // Unix time since which the job has no pods, in seconds; 0 if it has pods.
    int64_t without_pods_s = 0;
    // Last reported outcome of each decision in this entry.
    std::map<uint64_t, std::pair<Outcome, std::string>> reported;

    // Returns the order that applies to a pod; nullptr if there is none.
    const StandingOrder* Of(const std::string& pod) const;
  };

  // Adds an order. An order for all pods ends a trial. Appends kSuperseded for each replaced order that was
  // neither applied nor failed.
  void Take(const TargetOrder& order, const WorkloadName& workload, int64_t now_s,
            std::vector<OutcomeUpdate>& outcomes);
  // Adds an order for the owner's amounts without a decision. Returns false if the key already has an order.
  bool Adopt(const Key& key, const WorkloadName& workload);
  // Appends the outcome of a decision to `outcomes` if it differs from the last reported outcome.
  void Report(const Key& key, uint64_t decision, Outcome outcome, std::string text, int64_t now_s,
              std::vector<OutcomeUpdate>& outcomes);

  const std::map<Key, Entry>& entries() const { return entries_; }
  const Entry* Find(const Key& key) const;
  void NotePods(const Key& key, bool has_pods, int64_t now_s);
  // Returns the keys of the jobs that have had no pods since before `time_s`.
  std::vector<Key> WithoutPodsSince(int64_t time_s) const;
  // Deletes the order of a job, whose pods then keep their amounts.
  void Erase(const Key& key) { entries_.erase(key); }

  void Save(ByteWriter& out) const;
  // Returns the workload of a job for which an older version saved only the name; nullopt if the job is not in
  // this cluster.
  using OfOldName = absl::FunctionRef<std::optional<WorkloadName>(std::string_view job)>;
  // Replaces all orders by saved orders. Returns false, and deletes all orders, if the data is damaged.
  bool Load(ByteReader& in, OfOldName workload_of);

 private:
  std::map<Key, Entry> entries_;
};

}  // namespace taut::server
