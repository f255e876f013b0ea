// Converts recommendations to requests and limits of Kubernetes containers, for exports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/model/allocation_plan.h"
#include "tools/cli/json_text.h"

namespace taut::tools {

// The fields that a recommendation sets.
enum class ResourceFields : uint8_t {
  kSettings,  // as the job's settings applies_to and request_share define
  kNone,      // no field of this resource
  kRequests,  // the request; the limit is unchanged
  kLimits,    // the limit; the request is unchanged
  kBoth       // request and limit, equal
};

struct PatchOptions {
  ResourceFields cpu = ResourceFields::kSettings;
  ResourceFields memory = ResourceFields::kSettings;
};

// Plan of one container; absent amounts are unchanged.
struct ExportPlan {
  ContainerResources cpu,
      memory;            // whole millicores, and whole mebibytes where these keep the order of the two
  std::string left_out;  // changes that are left out, with the reason; "": none

  const ContainerResources& of(Resource r) const { return r == Resource::kCpu ? cpu : memory; }
};

// Returns whether the response has the job's container (JobDetail.container).
bool KnowsContainer(const Json& job);

// Returns the plan of `job`, a JobDetail of the API. With kSettings it is the plan that tautd applies to a new
// pod (PlanAllocation). If the API does not know the container, the owner's ratio is that of owner_request and
// owner_limit. Without a request and without a request_share, CPU gets only a request, and memory equal
// request and limit.
ExportPlan PlanExport(const PatchOptions& options, const Json& job);

// Returns "124m", "96Mi" or, if it is not whole, "100000".
std::string QuantityText(Resource resource, double amount);

}  // namespace taut::tools
