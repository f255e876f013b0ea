// Picks the jobs worth following through time and gathers their usage and limits for the report.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cli/decisions.h"
#include "tools/cli/input.h"
#include "tools/report/html_report.h"
#include "tools/sim/replay.h"

namespace taut::tools {

struct StoryChoice {
  JobId job;
  Resource resource;
  std::string why;
};

// At most `count` job-resource pairs, no job twice: the largest savings, the most OOM-days, the most changes
// and the least slack under `shown`. `named` jobs come first, with every resource replayed.
std::vector<StoryChoice> ChooseStories(const ReplayResult& result, brain::PolicyPair shown,
                                       const std::vector<JobId>& named, size_t count);

// What the recommenders said last, by job and lane.
using LastReasons = std::map<std::pair<uint32_t, Resource>, std::vector<Reason>>;

// Reads the chosen jobs' usage again, day by day, and their limits from the log.
absl::StatusOr<std::vector<JobStory>> TellStories(LoadedTrace& trace, const ReplayResult& result,
                                                  DecisionLog& log, const std::vector<StoryChoice>& choices,
                                                  const LastReasons& reasons);

}  // namespace taut::tools
