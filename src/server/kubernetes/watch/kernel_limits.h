// The memory limits of pods' cgroups as their kubelets report them. A resize that meets a container as it restarts
// may set the limit of the container's cgroup and leave the pod's, which kills at the lower one.
//
// Source: cAdvisor's container_spec_memory_limit_bytes of the cgroup above the containers.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "server/kubernetes/client/objects.h"

namespace taut::server {

// Of a kubelet's cAdvisor page, calls fn for the cgroup of each pod that has a memory limit.
void ForEachPodLimit(std::string_view text, absl::FunctionRef<void(const std::string& uid, double bytes)> fn);

// What the pod's cgroup has to allow, the sum of the memory limits that its containers run with. nullopt: one has
// none, or a resize is not done yet.
std::optional<double> NeededPodLimit(const Pod& pod);

// Thread-safe.
class KernelLimits {
 public:
  struct Report {
    double bytes = 0;
    double at_s = 0;  // by the steady clock
  };
  // What one kubelet reports, at `now_s`. Reports that are older than a while are forgotten.
  void Take(std::string_view page, double now_s);
  // The latest of each pod, by its UID.
  std::map<std::string, Report> reports() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Report> reports_;
};

}  // namespace taut::server
