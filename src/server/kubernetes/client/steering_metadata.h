// What metadata of objects says of settings: labels and annotations tautline.dev/KEY and
// CONTAINER.tautline.dev/KEY.
#pragma once

#include "common/json/json_tree.h"
#include "server/kubernetes/client/objects.h"

namespace taut::server {

// Of a workload or namespace: its settings, its status and split, and what is not used. Bounded.
void ReadSteeringMetadata(JsonNode metadata, OwnedObject& object);
// Of a pod: what opts out, and what is not used.
void ReadSteeringMetadata(JsonNode metadata, Pod& pod);

}  // namespace taut::server
