// The memory limits of pods' cgroups as the kubelets report them. If a resize coincides with the restart of a
// container, it may set the limit of the container's cgroup but not the limit of the pod's cgroup. The kernel
// then kills at the lower limit.
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

// Calls `fn` for each pod's cgroup with a memory limit on a kubelet's cAdvisor page; `bytes` is the limit.
void ForEachPodLimit(std::string_view text, absl::FunctionRef<void(const std::string& uid, double bytes)> fn);

// Returns the least limit in bytes that the pod's cgroup needs: the limit of the whole pod, or else the sum
// of the memory limits that its containers run with. nullopt if a container has no limit, a resize is under
// way, or the pod has ended.
std::optional<double> NeededPodLimit(const Pod& pod);

// The latest reported limit of each pod's cgroup. Thread-safe.
class KernelLimits {
 public:
  struct Report {
    double bytes = 0;
    double at_s = 0;  // steady time of the report
  };
  // Stores the limits on one kubelet's cAdvisor page, read at `now_s`. Reports older than five minutes are
  // removed.
  void Take(std::string_view page, double now_s);
  // Returns the latest report of each pod, by its UID.
  std::map<std::string, Report> reports() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Report> reports_;
};

}  // namespace taut::server
