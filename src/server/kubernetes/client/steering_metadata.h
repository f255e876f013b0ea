// Settings in the metadata of objects: labels and annotations tautline.dev/KEY and
// CONTAINER.tautline.dev/KEY.
#pragma once

#include "common/json/json_tree.h"
#include "server/kubernetes/client/objects.h"

namespace taut::server {

// Reads a workload's or namespace's settings, status and split, and what is not used. Bounded in size.
void ReadSteeringMetadata(JsonNode metadata, OwnedObject& object);
// Reads a pod's opt-outs, and what is not used.
void ReadSteeringMetadata(JsonNode metadata, Pod& pod);

}  // namespace taut::server
