// Evicts pods whose limit cannot be set in place, so that their replacements start with it: one pod of a
// workload at a time, and only while others serve.
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

// Not thread-safe.
class Evictor {
 public:
  struct Options {
    double replaced_s = 600;                        // the replacement must exist after this time
    double first_retry_s = 10, most_retry_s = 600;  // after a refusal; doubled each time
    double refused_retry_s = 600;                   // after a refusal that needs someone's action
    double not_given_s = 86'400;  // pause for a workload whose new pod did not start with its limit
  };
  enum class Did : uint8_t { kNothing, kWaits, kRefused, kFailed, kEvicted };
  struct Result {
    Did did = Did::kNothing;
    std::string text;        // what was done or why nothing was, for people
    double again_at_s = 0;   // latest time of the next call; 0: when a pod of the workload changes
    bool was_asked = false;  // this call sent a request to the API server
  };
  // Both pointers must outlive it.
  Evictor(Options options, const Cluster* cluster, ClusterWriter* writer)
      : options_(options), cluster_(cluster), writer_(writer) {}

  // Evicts the pod if possible. `why_not` returns why its replacement would not start with the set amounts;
  // "": it would. O(pods of the workload), and at most one eviction request.
  Result Evict(const WorkloadName& workload, const Pod& pod, absl::FunctionRef<std::string()> why_not,
               double now_s);

 private:
  // State of a workload with an eviction, made or attempted.
  struct State {
    std::string evicted, evicted_uid;  // the evicted pod until it is replaced; "": none
    std::set<std::string> before;      // UIDs of the pods at the eviction
    double evicted_at_s = 0;
    int refusals = 0;  // consecutive
    Result last;       // valid until its again_at_s
  };
  // kEvicted: the replacement is running; continue with the next pod.
  Result LookForReplacement(State& state, const std::vector<PodPtr>& pods, const Pod& pod, double now_s);
  Result Refused(State& state, const Pod& pod, const absl::Status& status, double now_s) const;

  const Options options_;
  const Cluster* const cluster_;
  ClusterWriter* const writer_;
  std::map<std::string, State> states_;  // by WorkloadKey
};

}  // namespace taut::server
