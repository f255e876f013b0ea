// Reads values for exports from responses of the API.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/model/allocation_plan.h"
#include "tools/cli/export_text.h"

namespace taut::tools {

// Returns a text, printable; "" if it is absent or not a text.
std::string TextOf(const Json& object, const char* key);
// Returns an amount of "cpu" in cores or "memory" in bytes; nullopt if it is absent.
std::optional<double> AmountOf(const Json& job, std::string_view resource, const char* key);
// Key of the highest usage of 7 days, which `taut export` adds to the API's amounts of a resource.
inline constexpr const char* kPeakOfWeek = "peak_of_week";
// Returns the highest usage in a Heatmap of the API; nullopt without usage.
std::optional<double> PeakOf(const Json& usage);
// Returns "no recommendation yet", with the time of the first one if it is known.
std::string NoneYetText(const Json& job);
// Returns whether the amounts are requests and not limits: by cpu|memory.applies_to, or because there is no
// limit.
bool IsOfRequest(const Json& job, std::string_view resource);
// Returns the container's current amounts: its template's if the API knows it, else the known amounts of the
// owner.
ContainerResources AmountsNow(const Json& job, std::string_view resource);
// Returns whether it is a sidecar, which is among the init containers of its template; false also if the API
// cannot know.
bool IsInitContainer(const Json& job);
// Returns the recommender's sentence; "" if there is none.
std::string SentenceOf(const ExportedJob& job, const char* resource);
// Round up: the result is never less than the recommendation.
int64_t MilliCores(double cores);
int64_t WholeBytes(double bytes);

}  // namespace taut::tools
