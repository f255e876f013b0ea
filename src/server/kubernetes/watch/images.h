// The images that the pods of a workload run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "server/kubernetes/client/pod.h"
#include "server/kubernetes/watch/workload_name.h"

namespace taut::server {

// Returns the versions that these pods of the workload run, sorted, each once: the image of its container,
// or, of whole pods, all their images joined by "+". "registry/shop/web:1.3" becomes "web:1.3", and of a
// digest the first 12 digits are kept.
std::vector<std::string> VersionsOf(std::span<const PodPtr> pods, const WorkloadName& workload);
// Returns a notice for people if runs of one program (IsRunKind), or pods without an owner, have different
// images, tags left aside. It names the first such container; "" if there is none.
std::string MixedImages(std::span<const PodPtr> pods, const WorkloadName& workload);

}  // namespace taut::server
