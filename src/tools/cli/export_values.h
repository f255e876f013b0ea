// What exports take from an answer of the API.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/model/allocation_plan.h"
#include "tools/cli/export_text.h"

namespace taut::tools {

// Printable; "" for what is not there, or no text.
std::string TextOf(const Json& object, const char* key);
// Of "cpu" in cores or "memory" in bytes; nullopt: not there.
std::optional<double> AmountOf(const Json& job, std::string_view resource, const char* key);
// Beside the amounts of a resource of the API: its highest usage of 7 days, which `taut export` adds.
inline constexpr const char* kPeakOfWeek = "peak_of_week";
// The highest usage in a Heatmap of the API; nullopt: it has none.
std::optional<double> PeakOf(const Json& usage);
// "no recommendation yet", and when the first comes where that is known.
std::string NoneYetText(const Json& job);
// The amounts are requests, and not limits: cpu|memory.applies_to says so, or there is no limit.
bool IsOfRequest(const Json& job, std::string_view resource);
// What a container has now: of one that the API knows its template's, else what it knows of the owner's.
ContainerResources AmountsNow(const Json& job, std::string_view resource);
// A sidecar, which stands among the init containers of its template; false also where the API cannot know.
bool IsInitContainer(const Json& job);
// The recommender's own sentence; "" if there is none.
std::string SentenceOf(const ExportedJob& job, const char* resource);
// Rounded up: never less than recommended.
int64_t MilliCores(double cores);
int64_t WholeBytes(double bytes);

}  // namespace taut::tools
