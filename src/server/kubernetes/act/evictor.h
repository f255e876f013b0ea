// Evicts pods whose limit cannot be set in place, so that the pods that replace them start with it: of each
// workload one after the other, and only where others serve meanwhile.
//
// Source: Kubernetes, "API-initiated Eviction" (policy/v1), which PodDisruptionBudgets may refuse.
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

// One object, one thread.
class Evictor {
 public:
  struct Options {
    double replaced_s = 600;                        // the pod that replaces one is there by then
    double first_retry_s = 10, most_retry_s = 600;  // after a refusal; doubled each time
    double refused_retry_s = 600;                   // where something has to be done first
    double not_given_s = 86'400;  // nothing more of a workload whose new pod did not start with its limit
  };
  enum class Did : uint8_t { kNothing, kWaits, kRefused, kFailed, kEvicted };
  struct Result {
    Did did = Did::kNothing;
    std::string text;        // what was done or why not, for people
    double again_at_s = 0;   // at the latest; 0: once a pod of the workload changes
    bool was_asked = false;  // the API server, in this call
  };
  // Both must outlive it.
  Evictor(Options options, const Cluster* cluster, ClusterWriter* writer)
      : options_(options), cluster_(cluster), writer_(writer) {}

  // `why_not`: why the pod that replaces it would not start with what is set; "": it would.
  Result Evict(const WorkloadName& workload, const Pod& pod, absl::FunctionRef<std::string()> why_not,
               double now_s);

 private:
  // Of a workload of which a pod was evicted, or was to be.
  struct State {
    std::string evicted, evicted_uid;  // until it is replaced; "": none
    std::set<std::string> before;      // UIDs of the pods when it was
    double evicted_at_s = 0;
    int refusals = 0;  // in a row
    Result last;       // that holds until its again_at_s
  };
  // Did::kEvicted: it is replaced, and the next one may be looked at.
  Result LookForReplacement(State& state, const std::vector<PodPtr>& pods, const Pod& pod, double now_s);
  Result Refused(State& state, const Pod& pod, const absl::Status& status, double now_s) const;

  const Options options_;
  const Cluster* const cluster_;
  ClusterWriter* const writer_;
  std::map<std::string, State> states_;  // by WorkloadKey
};

}  // namespace taut::server
