// Memory limits of pods' cgroups, as reported by the kubelets. A resize that coincides with a restart of a
// container may set the limit of the container's cgroup but not of the pod's cgroup. The kernel then kills at the
// lower limit.
//
// Source: metric container_spec_memory_limit_bytes of cAdvisor, for the cgroup above the containers.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "server/kubernetes/client/objects.h"

namespace taut::server {

// Calls `fn` for each pod's cgroup with a memory limit on the cAdvisor page of a kubelet. `bytes` is the limit.
void ForEachPodLimit(std::string_view text, absl::FunctionRef<void(const std::string& uid, double bytes)> fn);

// Returns the minimum limit in bytes that the pod's cgroup needs: the limit of the whole pod, or else the sum of
// its containers' current memory limits. Returns nullopt if a container has no limit, during a resize, and if the
// pod has ended.
std::optional<double> NeededPodLimit(const Pod& pod);

// The last reported limit of each pod's cgroup. Thread-safe.
class KernelLimits {
 public:
  struct Report {
    double bytes = 0;
    double at_s = 0;  // steady time of the report
  };
  // Stores the limits on a kubelet's cAdvisor page, which was read at `now_s`. Deletes reports older than five
  // minutes.
  void Take(std::string_view page, double now_s);
  // Returns the last report of each pod by UID.
  std::map<std::string, Report> reports() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Report> reports_;
};

}  // namespace taut::server
