// Describes the images that the pods of a workload run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "server/kubernetes/client/pod.h"
#include "server/kubernetes/watch/workload_name.h"

namespace taut::server {

// Returns the versions that the pods of the workload run, sorted and without duplicates. A version is the image of
// the workload's container, or for whole pods all images joined by "+". "registry/shop/web:1.3" is shortened to
// "web:1.3", and a digest to its first 12 digits.
std::vector<std::string> VersionsOf(std::span<const PodPtr> pods, const WorkloadName& workload);
// Returns a notice for users if the images of runs of one program (IsRunKind), or of pods without an owner, differ
// by more than their tags. The notice names the first container with different images. Returns "" if there is
// none.
std::string MixedImages(std::span<const PodPtr> pods, const WorkloadName& workload);

}  // namespace taut::server
