// Fields that several kinds of objects of a cluster have.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/json/json_tree.h"
#include "server/kubernetes/client/pod.h"

namespace taut::server {

// Its controller; both stay as they are if there is none. Anybody may write the field, with any text: what
// cannot be a name in Kubernetes owns nothing.
void ReadOwner(JsonNode metadata, std::string& kind, std::string& name);
// The program that a label or annotation names (kProgramName); "": nothing that can be part of a job's name.
std::string NamedProgram(JsonNode metadata);
// "import" of a generateName "import-", to which the API server adds five letters for each run.
std::string GeneratedFrom(JsonNode metadata);
// A quantity, in cores or bytes; absent: it is not there, or none.
std::optional<double> ReadAmount(JsonNode at, std::string_view key);
// The amounts of `resources` under `key`, such as "requests".
Amounts ReadAmounts(JsonNode resources, std::string_view key);

}  // namespace taut::server
