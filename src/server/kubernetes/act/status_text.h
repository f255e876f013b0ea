// Formats the annotation tautline.dev/status of a workload: one line with the recommendations for its containers
// and their reasons. No I/O.
//
//   app auto: cpu request 125m limit 250m set (...), memory request 48Mi limit 96Mi waits (...); log observe: ...
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "common/model/allocation_plan.h"
#include "common/model/rollout.h"
#include "server/control/fleet_view.h"
#include "server/kubernetes/client/objects.h"

namespace taut::server {

inline constexpr size_t kMaxStatusBytes = 400;
inline constexpr size_t kMaxStatusReasonBytes = 60;

struct ResourceStatus {
  ContainerResources amounts = {};  // recommendation; both absent: none yet
  std::string_view state = {};      // "set" or "waits"; "": the amounts are only recommended
  std::string reason = {};          // reason for users; "": none
};

struct ContainerStatus {
  std::string name;  // name of the container; "": the whole pod
  Mode mode = Mode::kObserve;
  ResourceStatus cpu, memory;

  const ResourceStatus& of(Resource r) const { return r == Resource::kCpu ? cpu : memory; }
  ResourceStatus& of(Resource r) { return r == Resource::kCpu ? cpu : memory; }
};

// Returns the state of a job's recommendation: "set" if the order in force differs by at most a tenth, else
// "waits", "on trial", or "dry run" if nothing is applied. Returns "" if the job's mode only shows
// recommendations.
std::string_view StateOf(const JobView& job, Resource r, bool on_trial);

// Returns the status, at most kMaxStatusBytes long. Omits first the reasons and then the last containers, and ends
// with the number of omitted containers. Memory is rounded up to whole Mi. Returns "" if there are no containers.
std::string StatusText(std::span<const ContainerStatus> containers);

// Returns true if two statuses differ only in their reasons, and in amounts by at most a tenth of the larger
// amount. Accepts any text.
bool SaysTheSame(std::string_view a, std::string_view b);

// Returns the first sentence up to a comma, cut to kMaxStatusReasonBytes at a character boundary. O(bytes).
std::string ShortReason(std::string_view sentences);

}  // namespace taut::server
