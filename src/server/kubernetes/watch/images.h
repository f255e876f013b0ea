// The images that the pods of a workload run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "server/kubernetes/client/pod.h"
#include "server/kubernetes/watch/workload_name.h"

namespace taut::server {

// Images of the workload's container in these pods of it, or of whole pods all of theirs: "web:1.3" of
// "registry/shop/web:1.3", of a digest its first 12 digits. Sorted, each once.
std::vector<std::string> VersionsOf(std::span<const PodPtr> pods, const WorkloadName& workload);
// A notice for people, if pods of the workload that are runs of one program (IsRunKind), or have no owner, run
// different images, tags left aside. It names the first such container. "": they do not.
std::string MixedImages(std::span<const PodPtr> pods, const WorkloadName& workload);

}  // namespace taut::server
