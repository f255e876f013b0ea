// The limits and requests that the owner of a pod has set, for pods whose amounts tautd has changed.
#pragma once

#include <vector>

#include "server/kubernetes/client/pod.h"

namespace taut::server {

// Sets ContainerState::owner_limits and owner_requests of a pod that has just arrived from the API server.
// For a pod that is not resized these are its own amounts. For a resized pod they are the owner's amounts in
// `before`, the pod's last version (nullptr: none). Sets Pod::owners_known to false if the owner's amounts
// remain unknown.
void KeepOwnersAmounts(const Pod* before, Pod& pod);
// Sets the owner's amounts from the template of the pod's controller. Amounts noted in an annotation are used
// only up to `most`, the largest that a pod can have, because anyone who may write a pod could note more.
void TakeFromTemplate(const std::vector<ContainerState>& in_template, const Amounts& most, Pod& pod);
// Sets the owner's amounts from the annotation of the pod (ContainerState::noted_limits), each up to `most`.
void TakeNoted(const Amounts& most, Pod& pod);

}  // namespace taut::server
