// Two reporting tools as comparators of a replay: KRR's simple strategy and Crane's resource recommendation
// (docs/algorithms/vertical.md, "Comparators"). Neither tool changes a limit by itself; the replay assumes that
// the tool runs once per day, in the job's decision window, and that its result is applied.
#pragma once

#include <cstdint>
#include <memory>

#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"

namespace taut::brain {

// `decision_window` is the window of the day, 0 to kWindowsPerDay - 1. Unsuitable for live fleets: KRR keeps every
// CPU sample of every task for KrrSettings::days (4 bytes per window and task).
std::unique_ptr<Recommender> NewKrrRecommender(Resource resource, const KrrSettings& settings,
                                               int32_t decision_window);
std::unique_ptr<Recommender> NewCraneRecommender(Resource resource, const CraneSettings& settings,
                                                 const OomSettings& oom, int32_t decision_window);

}  // namespace taut::brain
