// Simple comparators for a replay: the owner's own limit, and the peak of the last days plus a margin.
#pragma once

#include <memory>

#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"

namespace taut::brain {

// Never recommends, so that the owner's limit stays in force. `enforced`: usage is cut at this limit; else the
// limit is the one under which the usage was recorded.
std::unique_ptr<Recommender> NewStaticRecommender(bool enforced = true);

// Recommends (1 + margin) times the exact highest usage of the last `days` days, without classes and histograms.
std::unique_ptr<Recommender> NewPeakRecommender(Resource resource, PeakSettings settings, OomSettings oom);

}  // namespace taut::brain
