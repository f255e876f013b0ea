// The annotation tautline.dev/status of a workload: what is recommended for its containers and why, in one line.
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
  ContainerResources amounts = {};  // recommended; both absent: nothing yet
  std::string_view state = {};      // "set", "waits"; "": it is only recommended
  std::string reason = {};          // for people; "": none
};

struct ContainerStatus {
  std::string name;  // "": the whole pod
  Mode mode = Mode::kObserve;
  ResourceStatus cpu, memory;

  const ResourceStatus& of(Resource r) const { return r == Resource::kCpu ? cpu : memory; }
  ResourceStatus& of(Resource r) { return r == Resource::kCpu ? cpu : memory; }
};

// How far the recommendation of a job is carried out in its mode: "set" where what was ordered is within a tenth of it,
// else "waits", "on trial", or "dry run" where nothing is applied. "" where the mode only shows it.
std::string_view StateOf(const JobView& job, Resource r, bool on_trial);

// At most kMaxStatusBytes: without the reasons if they do not fit, and without the last containers, whose number
// stands at the end. Memory in whole Mi, rounded up. "" for no container.
std::string StatusText(std::span<const ContainerStatus> containers);

// Whether two such texts differ in no amount by more than a tenth of the larger one, nor in anything else but
// reasons. Any text is allowed.
bool SaysTheSame(std::string_view a, std::string_view b);

// The first sentence up to a comma, cut to kMaxStatusReasonBytes at a whole character. O(bytes).
std::string ShortReason(std::string_view sentences);

}  // namespace taut::server
