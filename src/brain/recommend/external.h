// A limit from outside in place of a recommender's own, as long as it holds.
#pragma once

#include <memory>

#include "brain/recommend/recommender.h"
#include "common/model/resource.h"

namespace taut::brain {

// Recommends what TakeExternal was given last up to its last window, and what `inner` recommends before the
// first answer and after the last. `inner` sees every window, so that it can take over at any time. The answer
// is part of the state.
std::unique_ptr<Recommender> WithExternal(std::unique_ptr<Recommender> inner, Resource resource);

}  // namespace taut::brain
