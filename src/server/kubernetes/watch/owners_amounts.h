// Determines the owner's limits and requests of pods whose amounts tautd has changed.
#pragma once

#include <vector>

#include "server/kubernetes/client/pod.h"

namespace taut::server {

// Sets ContainerState::owner_limits and owner_requests of a pod that has just arrived. Uses the pod's own amounts
// if the pod was never resized. For a resized pod, uses the owner's amounts in `before`, the previous version of
// the pod (null: none). Sets Pod::owners_known to false if the owner's amounts remain unknown.
void KeepOwnersAmounts(const Pod* before, Pod& pod);
// Sets the owner's amounts from the template of the pod's controller. Uses amounts in the pod's annotation only up
// to `most`, the largest amounts of any pod. Anyone who may write the pod could write larger amounts.
void TakeFromTemplate(const std::vector<ContainerState>& in_template, const Amounts& most, Pod& pod);
// Sets the owner's amounts from the pod's annotation (ContainerState::noted_limits), each up to `most`.
void TakeNoted(const Amounts& most, Pod& pod);

}  // namespace taut::server
