// A pod as the API server writes it.
#pragma once

#include "common/json/json_tree.h"
#include "server/kubernetes/client/pod.h"

namespace taut::server {

// False: it has no metadata. Fields that are missing stay as they are.
bool ReadPod(JsonNode at, Pod& pod);

}  // namespace taut::server
