// Reads values from the API's responses for exports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/model/allocation_plan.h"
#include "common/model/workload.h"
#include "tools/cli/export_text.h"

namespace taut::tools {

// Returns the job's workload; unknown if the API has none, because the job's source provides only a name.
Workload WorkloadOf(const Json& job);
// Returns the printable text at a key; "" if the value is absent or not a text.
std::string TextOf(const Json& object, const char* key);
// Returns an amount of the resource "cpu" in cores, or of "memory" in bytes; nullopt if absent.
std::optional<double> AmountOf(const Json& job, std::string_view resource, const char* key);
// Key of the highest usage of 7 days, which `taut export` adds to the amounts of each resource.
inline constexpr const char* kPeakOfWeek = "peak_of_week";
// Returns the highest usage in a Heatmap of the API; nullopt if there is no usage.
std::optional<double> PeakOf(const Json& usage);
// Returns "no recommendation yet", and the time of the first recommendation if known.
std::string NoneYetText(const Json& job);
// Returns true if the recommendation is for the request: the setting cpu.applies_to or memory.applies_to requires
// this, or the job has no limit.
bool IsOfRequest(const Json& job, std::string_view resource);
// Returns the container's current amounts: from the pod template if the API knows it, else the owner's known
// amounts.
ContainerResources AmountsNow(const Json& job, std::string_view resource);
// Returns true if the container is a sidecar, which the pod template lists as an init container. Returns false if
// the API does not know the container.
bool IsInitContainer(const Json& job);
// Returns the recommender's sentence about the resource; "" if there is none.
std::string SentenceOf(const ExportedJob& job, const char* resource);
// Converts cores to millicores and rounds up, so that the result is never below the recommendation.
int64_t MilliCores(double cores);
int64_t WholeBytes(double bytes);

}  // namespace taut::tools
