// What recommendations become as requests and limits of Kubernetes containers, in exports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/model/allocation_plan.h"
#include "tools/cli/json_text.h"

namespace taut::tools {

// What a recommendation becomes.
enum class ResourceFields : uint8_t {
  kSettings,  // what the job's settings applies_to and request_share say
  kNone,      // nothing of this resource is written
  kRequests,  // the request; a limit stays as it is
  kLimits,    // the limit; a request stays as it is
  kBoth       // request and limit, equal
};

struct PatchOptions {
  ResourceFields cpu = ResourceFields::kSettings;
  ResourceFields memory = ResourceFields::kSettings;
};

// Of one container; absent amounts stay as they are.
struct ExportPlan {
  ContainerResources cpu,
      memory;            // whole millicores, and whole mebibytes where these keep the order of the two
  std::string left_out;  // "" or what is, and why

  const ContainerResources& of(Resource r) const { return r == Resource::kCpu ? cpu : memory; }
};

// Whether the API knows what the job's container has (JobDetail.container).
bool KnowsContainer(const Json& job);

// `job`: a JobDetail of the API. With kSettings the plan is what tautd sets on a new pod (PlanAllocation). Where
// the API does not know the container, the owner's ratio is that of owner_request and owner_limit. Without
// a request and without a request_share CPU gets a request only, and memory both, equal.
ExportPlan PlanExport(const PatchOptions& options, const Json& job);

// "124m", "96Mi" or, for what is not whole, "100000".
std::string QuantityText(Resource resource, double amount);

}  // namespace taut::tools
