// The plain comparators of a replay: the owner's own limit, and the peak of the last days plus a margin.
#pragma once

#include <memory>

#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"

namespace taut::brain {

// The owner's limit, whatever the usage: a recommendation is never made, so the owner's limit stays in force.
std::unique_ptr<Recommender> NewStaticRecommender();

// The exact highest usage of the last `days` times (1 + margin). Needs no class, no histogram.
std::unique_ptr<Recommender> NewPeakRecommender(Resource resource, PeakSettings settings, OomSettings oom);

}  // namespace taut::brain
