// Evicts pods whose limit cannot be set in place, so that their replacements start with the new limit. Evicts
// one pod of a workload at a time, and only while other pods of the workload serve.
//
// Source: Kubernetes, "API-initiated Eviction" (policy/v1), which PodDisruptionBudgets can refuse.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "server/kubernetes/act/cluster_writer.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

// Keeps the progress of each workload's evictions. Not thread-safe.
class Evictor {
 public:
  struct Options {
    double replaced_s = 600;                        // longest wait for the replacement
    double first_retry_s = 10, most_retry_s = 600;  // after refused evictions; doubled with each refusal
    double refused_retry_s = 600;                   // delay after a refusal that needs someone's action
    double not_given_s = 86'400;  // pause for a workload whose new pod did not start with its limit
  };
  enum class Did : uint8_t { kNothing, kWaits, kRefused, kFailed, kEvicted };
  struct Result {
    Did did = Did::kNothing;
    std::string text;        // for people: what was done, or the reason why nothing was done
    double again_at_s = 0;   // latest time of the next call; 0: call when a pod of the workload changes
    bool was_asked = false;  // true if this call sent an eviction request to the API server
  };
  // `cluster` and `writer` must outlive the object.
  Evictor(Options options, const Cluster* cluster, ClusterWriter* writer)
      : options_(options), cluster_(cluster), writer_(writer) {}

  // Evicts the pod if possible. `why_not` returns the reason why the pod's replacement would not start with
  // the set amounts; "" if it would. O(pods of the workload), plus at most one eviction request.
  Result Evict(const WorkloadName& workload, const Pod& pod, absl::FunctionRef<std::string()> why_not,
               double now_s);

 private:
  // State of a workload for which an eviction was made or attempted.
  struct State {
    std::string evicted, evicted_uid;  // the evicted pod until it is replaced; "": none
    std::set<std::string> before;      // UIDs of all pods of the workload at the eviction
    double evicted_at_s = 0;
    int refusals = 0;  // number of consecutive refusals
    Result last;       // valid until last.again_at_s
  };
  // Checks whether the evicted pod was replaced. kEvicted: the replacement is running, and the next pod may
  // be evicted.
  Result LookForReplacement(State& state, const std::vector<PodPtr>& pods, const Pod& pod, double now_s);
  Result Refused(State& state, const Pod& pod, const absl::Status& status, double now_s) const;

  const Options options_;
  const Cluster* const cluster_;
  ClusterWriter* const writer_;
  std::map<std::string, State> states_;  // state by WorkloadKey
};

}  // namespace taut::server
