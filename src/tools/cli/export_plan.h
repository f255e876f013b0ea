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
  kSettings,  // as the settings applies_to and request_share of the job define
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
      memory;            // whole millicores; whole mebibytes, unless request and limit would become equal
  std::string left_out;  // changes that are not made, with the reason; "": none

  const ContainerResources& of(Resource r) const { return r == Resource::kCpu ? cpu : memory; }
};

// Returns true if the response contains the job's container (JobDetail.container).
bool KnowsContainer(const Json& job);

// Returns the plan of `job`, a JobDetail of the API. With kSettings it is the plan that tautd applies to a
// new pod (PlanAllocation). If the API does not know the container, the ratio of request to limit is that of
// owner_request and owner_limit. Without an owner's request and without a request_share, the plan sets only a
// request for CPU, and an equal request and limit for memory.
ExportPlan PlanExport(const PatchOptions& options, const Json& job);

// Returns the amount as a quantity of Kubernetes: "124m", "96Mi", or "100000" if it is not a whole number of
// mebibytes.
std::string QuantityText(Resource resource, double amount);

}  // namespace taut::tools
