// The annotation tautline.dev/status of a workload: the recommendations for its containers and their reasons,
// in one line.
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
  ContainerResources amounts = {};  // recommended; both absent: none yet
  std::string_view state = {};      // "set", "waits"; "": only recommended
  std::string reason = {};          // for people; "": none
};

struct ContainerStatus {
  std::string name;  // "": the whole pod
  Mode mode = Mode::kObserve;
  ResourceStatus cpu, memory;

  const ResourceStatus& of(Resource r) const { return r == Resource::kCpu ? cpu : memory; }
  ResourceStatus& of(Resource r) { return r == Resource::kCpu ? cpu : memory; }
};

// Returns how far a job's recommendation is carried out: "set" if the order is within a tenth of it,
// otherwise "waits", "on trial", or "dry run" if nothing is applied. "" if the mode only shows it.
std::string_view StateOf(const JobView& job, Resource r, bool on_trial);

// Returns at most kMaxStatusBytes. If the text is too long, it leaves out reasons, then the last containers,
// and ends with their number. Memory is in whole Mi, rounded up. "" for no containers.
std::string StatusText(std::span<const ContainerStatus> containers);

// True if no amount differs by more than a tenth of the larger one, and nothing else differs except reasons.
// Accepts any text.
bool SaysTheSame(std::string_view a, std::string_view b);

// Returns the first sentence up to a comma, cut to kMaxStatusReasonBytes between characters. O(bytes).
std::string ShortReason(std::string_view sentences);

}  // namespace taut::server
