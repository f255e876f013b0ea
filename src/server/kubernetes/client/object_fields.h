// Fields that several kinds of Kubernetes objects have.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/json/json_tree.h"
#include "server/kubernetes/client/pod.h"

namespace taut::server {

// Reads the controller; both stay unchanged if there is none. Users may write the field with any text: an
// impossible Kubernetes name is ignored.
void ReadOwner(JsonNode metadata, std::string& kind, std::string& name);
// Returns the program that a label or annotation names (kProgramName); "" if it cannot be part of a job's
// name.
std::string NamedProgram(JsonNode metadata);
// Returns "import" for a generateName "import-", to which the API server adds five characters for each run.
std::string GeneratedFrom(JsonNode metadata);
// Returns a quantity in cores or bytes; absent if it is missing or invalid.
std::optional<double> ReadAmount(JsonNode at, std::string_view key);
// Returns the amounts of `resources` under `key`, such as "requests".
Amounts ReadAmounts(JsonNode resources, std::string_view key);

}  // namespace taut::server
