// A wrapper that replaces a recommender's limit by an external one while that is valid.
#pragma once

#include <memory>

#include "brain/recommend/recommender.h"
#include "common/model/resource.h"

namespace taut::brain {

// Recommends the last limit of TakeExternal up to its last window; before the first answer and after the last
// it recommends the limit of `inner`, which observes every window and can take over at any time. The answer
// is saved.
std::unique_ptr<Recommender> WithExternal(std::unique_ptr<Recommender> inner, Resource resource);

}  // namespace taut::brain
