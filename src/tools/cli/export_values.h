// Reads values for exports from responses of the API.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/model/allocation_plan.h"
#include "tools/cli/export_text.h"

namespace taut::tools {

// Returns the printable text at a key; "" if the value is absent or not a text.
std::string TextOf(const Json& object, const char* key);
// Returns an amount of "cpu" in cores or of "memory" in bytes; nullopt if the amount is absent.
std::optional<double> AmountOf(const Json& job, std::string_view resource, const char* key);
// Key of the highest usage of 7 days, which `taut export` adds to the API's amounts of a resource.
inline constexpr const char* kPeakOfWeek = "peak_of_week";
// Returns the highest usage in a Heatmap of the API; nullopt without usage.
std::optional<double> PeakOf(const Json& usage);
// Returns "no recommendation yet", with the time of the first one if it is known.
std::string NoneYetText(const Json& job);
// Returns true if the recommended amounts are requests and not limits, because cpu|memory.applies_to defines
// it or because the job has no limit.
bool IsOfRequest(const Json& job, std::string_view resource);
// Returns the container's current amounts: the amounts of the container's template if the API knows it, else
// the owner's known amounts.
ContainerResources AmountsNow(const Json& job, std::string_view resource);
// Returns true if the container is a sidecar, which is among the init containers of the pod template. Returns
// false if it is not, or if the API does not know the container.
bool IsInitContainer(const Json& job);
// Returns the recommender's sentence; "" if there is none.
std::string SentenceOf(const ExportedJob& job, const char* resource);
// Rounds up, so that the result is never less than the recommendation.
int64_t MilliCores(double cores);
int64_t WholeBytes(double bytes);

}  // namespace taut::tools
