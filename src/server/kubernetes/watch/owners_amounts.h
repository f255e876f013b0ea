// The limits and requests that the owner of a pod wants, where tautd has set others at the pod.
#pragma once

#include <vector>

#include "server/kubernetes/client/pod.h"

namespace taut::server {

// Sets ContainerState::owner_limits and owner_requests of a pod that was just seen: its own, or, if it is resized,
// those of `before`, its last version (nullptr: none).
void KeepOwnersAmounts(const Pod* before, Pod& pod);
// Sets them from the template of the pod's owner. `most`: amounts that a pod can have.
void TakeFromTemplate(const std::vector<ContainerState>& in_template, const Amounts& most, Pod& pod);
// Sets them from the annotation of the pod (ContainerState::noted_limits).
void TakeNoted(const Amounts& most, Pod& pod);

}  // namespace taut::server
