// Evicts pods whose limit cannot be set in place, so that their replacements start with the new limit. Evicts one
// pod of a workload at a time, and only while other pods of the workload serve.
//
// Source: Kubernetes, "API-initiated Eviction" (policy/v1), which respects PodDisruptionBudgets.
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

// Evicts pods, and stores the progress of each workload's evictions. Not thread-safe.
class Evictor {
 public:
  struct Options {
    double replaced_s = 600;  // maximum wait for the replacement
    // delays after refused evictions, doubled with each refusal
    double first_retry_s = 10, most_retry_s = 600;
    // delay after a refusal that an administrator must resolve
    double refused_retry_s = 600;
    double not_given_s = 86'400;  // pause for a workload whose new pod started without its limit
  };
  enum class Did : uint8_t { kNothing, kWaits, kRefused, kFailed, kEvicted };
  struct Result {
    Did did = Did::kNothing;
    std::string text;        // text for users: the action, or the reason why there was none
    double again_at_s = 0;   // time by which to call again; 0: call again when a pod of the workload changes
    bool was_asked = false;  // true if this call sent an eviction request
  };
  // `cluster` and `writer` must outlive this object.
  Evictor(Options options, const Cluster* cluster, ClusterWriter* writer)
      : options_(options), cluster_(cluster), writer_(writer) {}

  // Evicts the pod if possible. `why_not` returns the reason why a replacement would not start with the set
  // amounts; "" if it would. O(pods of the workload), with at most one eviction request.
  Result Evict(const WorkloadName& workload, const Pod& pod, absl::FunctionRef<std::string()> why_not,
               double now_s);
  // Forgets workloads whose last result ended more than not_given_s ago. Call from time to time, because Evict()
  // is no longer called for a deleted workload.
  void Forget(double now_s);

 private:
  // State of a workload whose pods were evicted, or whose eviction was refused.
  struct State {
    std::string evicted, evicted_uid;  // evicted pod that was not replaced yet; "": none
    std::set<std::string> before;      // UIDs of the workload's pods at the time of the eviction
    double evicted_at_s = 0;
    int refusals = 0;  // number of consecutive refusals
    Result last;       // last result, valid until last.again_at_s
  };
  // Checks the replacement of the evicted pod. Returns kEvicted if the replacement is running, so that the next
  // pod may be evicted.
  Result LookForReplacement(State& state, const std::vector<PodPtr>& pods, const Pod& pod, double now_s);
  Result Refused(State& state, const Pod& pod, const absl::Status& status, double now_s) const;

  const Options options_;
  const Cluster* const cluster_;
  ClusterWriter* const writer_;
  std::map<std::string, State> states_;  // states by WorkloadKey()
};

}  // namespace taut::server
