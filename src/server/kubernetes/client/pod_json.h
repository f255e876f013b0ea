// Parses a pod from the API server's JSON.
#pragma once

#include "common/json/json_tree.h"
#include "server/kubernetes/client/pod.h"

namespace taut::server {

// Parses a pod from JSON. Returns false if `at` has no metadata. A missing field leaves the member of `pod`
// unchanged.
bool ReadPod(JsonNode at, Pod& pod);

}  // namespace taut::server
