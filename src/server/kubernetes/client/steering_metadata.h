// Settings in the metadata of objects: labels and annotations tautline.dev/KEY and CONTAINER.tautline.dev/KEY.
#pragma once

#include "common/json/json_tree.h"
#include "server/kubernetes/client/objects.h"

namespace taut::server {

// Reads the settings, the status and the split of a workload or namespace, and adds sentences about entries
// without effect. The settings, the split and the sentences are bounded in size.
void ReadSteeringMetadata(JsonNode metadata, OwnedObject& object);
// Reads the opt-outs of a pod, and adds sentences about entries without effect.
void ReadSteeringMetadata(JsonNode metadata, Pod& pod);

}  // namespace taut::server
