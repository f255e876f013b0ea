// The annotation tautline.dev/status of a workload. In one line it has the recommendations for the workload's
// containers and the reasons.
//
//   app auto: cpu request 125m limit 250m set (...), memory request 48Mi limit 96Mi waits (...); log observe: ...
//
// No I/O.
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
  ContainerResources amounts = {};  // recommended amounts; both absent: no recommendation yet
  std::string_view state = {};      // "set" or "waits"; "": the amounts are only recommended
  std::string reason = {};          // for people; "": none
};

struct ContainerStatus {
  std::string name;  // "": the whole pod
  Mode mode = Mode::kObserve;
  ResourceStatus cpu, memory;

  const ResourceStatus& of(Resource r) const { return r == Resource::kCpu ? cpu : memory; }
  ResourceStatus& of(Resource r) { return r == Resource::kCpu ? cpu : memory; }
};

// Returns the state of a job's recommendation: "set" if the order in force is within a tenth of it, otherwise
// "waits", "on trial", or "dry run" if nothing is applied. "" if the job's mode only shows the
// recommendation.
std::string_view StateOf(const JobView& job, Resource r, bool on_trial);

// Returns the status in at most kMaxStatusBytes. If the text would be longer, leaves out first the reasons,
// then the last containers, and ends with the number of the omitted containers. Memory is in whole Mi,
// rounded up. "" for no containers.
std::string StatusText(std::span<const ContainerStatus> containers);

// Returns true if two statuses differ only in their reasons and in amounts by at most a tenth of the larger
// amount. Accepts any text.
bool SaysTheSame(std::string_view a, std::string_view b);

// Returns the first sentence of the text up to a comma, cut to kMaxStatusReasonBytes between characters.
// O(bytes).
std::string ShortReason(std::string_view sentences);

}  // namespace taut::server
