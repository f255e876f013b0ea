// A wrapper that replaces a recommender's limit by an external limit while the external limit is valid.
#pragma once

#include <memory>

#include "brain/recommend/recommender.h"
#include "common/model/resource.h"

namespace taut::brain {

// Recommends the last limit of TakeExternal while the limit is valid, and otherwise the limit of `inner`, which
// observes every window. Save includes the external limit.
std::unique_ptr<Recommender> WithExternal(std::unique_ptr<Recommender> inner, Resource resource);

}  // namespace taut::brain
