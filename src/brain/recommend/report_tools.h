// The rules of two tools that people run to get a report, as comparators of a replay: KRR's simple strategy
// and Crane's resource recommendation (docs/algorithms/vertical.md, "Comparators"). Neither changes a limit
// by itself; the replay assumes that the tool is run once a day, in the job's decision window, and sets what
// it says.
#pragma once

#include <cstdint>
#include <memory>

#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"

namespace taut::brain {

// `decision_window`: of the day (0 to kWindowsPerDay - 1). State: KRR keeps every CPU sample of every task
// for KrrSettings::days (4 bytes a window and task), so it is no recommender for a live fleet.
std::unique_ptr<Recommender> NewKrrRecommender(Resource resource, const KrrSettings& settings,
                                               int32_t decision_window);
std::unique_ptr<Recommender> NewCraneRecommender(Resource resource, const CraneSettings& settings,
                                                 const OomSettings& oom, int32_t decision_window);

}  // namespace taut::brain
