// A wrapper that replaces a recommender's limit by an external limit while the external limit is valid.
#pragma once

#include <memory>

#include "brain/recommend/recommender.h"
#include "common/model/resource.h"

namespace taut::brain {

// Recommends the last limit of TakeExternal while the limit is valid, and otherwise the limit of `inner`, which
// observes every window. A lower external limit applies only after an hour, as the recommenders' own falls do: of
// the limits of kExternalHoldWindows windows the highest is recommended. Save includes the external limits.
inline constexpr int kExternalHoldWindows = 12;
std::unique_ptr<Recommender> WithExternal(std::unique_ptr<Recommender> inner, Resource resource);

}  // namespace taut::brain
