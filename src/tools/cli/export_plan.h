// Converts recommendations to requests and limits of Kubernetes containers for exports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/model/allocation_plan.h"
#include "tools/cli/json_text.h"

namespace taut::tools {

// Fields of a container that a recommendation changes.
enum class ResourceFields : uint8_t {
  kSettings,  // fields that the job's settings applies_to and request_share determine
  kNone,      // neither request nor limit
  kRequests,  // request only
  kLimits,    // limit only
  kBoth       // request and limit, both to the recommendation
};

struct PatchOptions {
  ResourceFields cpu = ResourceFields::kSettings;
  ResourceFields memory = ResourceFields::kSettings;
};

// Planned amounts of one container; an absent amount is unchanged.
struct ExportPlan {
  // Whole millicores and mebibytes. Memory is in bytes where rounding would equalize request and limit.
  ContainerResources cpu, memory;
  std::string left_out;  // omitted changes with the reason; "" if none

  const ContainerResources& of(Resource r) const { return r == Resource::kCpu ? cpu : memory; }
};

// Returns true if the API knows the job's container (JobDetail.container).
bool KnowsContainer(const Json& job);

// Returns the plan of `job`, a JobDetail of the API. With kSettings, the plan equals the plan that tautd applies
// to a new pod (PlanAllocation). For a container that the API does not know, the ratio of request to limit is
// owner_request to owner_limit. Without owner_request and request_share, CPU gets only a request, and memory an
// equal request and limit.
ExportPlan PlanExport(const PatchOptions& options, const Json& job);

// Returns the amount as a Kubernetes quantity: "124m", "96Mi", or "100000" for bytes that are not whole mebibytes.
std::string QuantityText(Resource resource, double amount);

}  // namespace taut::tools
