// The limits and requests that the owner of a pod set, for pods at which tautd has set others.
#pragma once

#include <vector>

#include "server/kubernetes/client/pod.h"

namespace taut::server {

// Sets ContainerState::owner_limits and owner_requests of a pod that has just arrived from the API server.
// They are the pod's own amounts, or, if it is resized, those of `before`, its last version (nullptr: none).
// Pod::owners_known is false if neither is known.
void KeepOwnersAmounts(const Pod* before, Pod& pod);
// Sets them from the template of the pod's owner. Amounts noted in an annotation count only up to `most`, the
// largest that a pod can have: anyone who may write a pod could note more.
void TakeFromTemplate(const std::vector<ContainerState>& in_template, const Amounts& most, Pod& pod);
// Sets them from the annotation of the pod (ContainerState::noted_limits), each up to `most`.
void TakeNoted(const Amounts& most, Pod& pod);

}  // namespace taut::server
