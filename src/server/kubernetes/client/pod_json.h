// Parses a pod from the API server's JSON.
#pragma once

#include "common/json/json_tree.h"
#include "server/kubernetes/client/pod.h"

namespace taut::server {

// Parses a pod from JSON. Returns false if `at` has no metadata. Members of `pod` whose fields are missing in
// `at` stay unchanged.
bool ReadPod(JsonNode at, Pod& pod);

}  // namespace taut::server
