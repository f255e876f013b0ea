// Parses a pod's JSON.
#pragma once

#include "common/json/json_tree.h"
#include "server/kubernetes/client/pod.h"

namespace taut::server {

// Returns false if it has no metadata. Missing fields stay unchanged.
bool ReadPod(JsonNode at, Pod& pod);

}  // namespace taut::server
