// What exports take from an answer of the API.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/export_text.h"

namespace taut {

// Printable; "" for what is not there, or no text.
std::string TextOf(const Json& object, const char* key);
// Of "cpu" in cores or "memory" in bytes; nullopt: not there.
std::optional<double> AmountOf(const Json& job, std::string_view resource, const char* key);
// The amounts are requests, and not limits: cpu|memory.applies_to says so, or there is no limit.
bool IsOfRequest(const Json& job, std::string_view resource);
// A sidecar, which stands among the init containers of its template; false also where the API cannot know.
bool IsInitContainer(const Json& job);
// The recommender's own sentence; "" if there is none.
std::string SentenceOf(const ExportedJob& job, const char* resource);
// Rounded up: never less than recommended.
int64_t MilliCores(double cores);
int64_t WholeBytes(double bytes);

}  // namespace taut
