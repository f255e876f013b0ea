// Fields that several kinds of Kubernetes objects have.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/json/json_tree.h"
#include "server/kubernetes/client/pod.h"

namespace taut::server {

// Reads the controller of an object. Leaves `kind` and `name` unchanged if there is none. Ignores impossible
// Kubernetes names, because users may write any text into ownerReferences.
void ReadOwner(JsonNode metadata, std::string& kind, std::string& name);
// Returns the program that a label or annotation names (kProgramName); "" if the text cannot be part of a job's
// name.
std::string NamedProgram(JsonNode metadata);
// Returns the prefix in generateName without its dash, such as "import" for "import-". The API server appends five
// characters to the prefix for each run.
std::string GeneratedFrom(JsonNode metadata);
// Returns a quantity in cores or bytes; nullopt if missing or invalid.
std::optional<double> ReadAmount(JsonNode at, std::string_view key);
// Returns the amounts in `resources` under `key`, such as "requests".
Amounts ReadAmounts(JsonNode resources, std::string_view key);

}  // namespace taut::server
