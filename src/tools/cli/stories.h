// Chooses jobs whose history is informative, and collects their usage and limits for the report.
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

// Returns at most `count` job-resource pairs, no job twice: the largest savings, the most OOM-days, the most
// changes, the largest footprints and the largest increases under `shown`. The `named` jobs are first, with
// every replayed resource, even if this makes more than `count` pairs.
std::vector<StoryChoice> ChooseStories(const ReplayResult& result, brain::PolicyPair shown,
                                       const std::vector<JobId>& named, size_t count);

// Last reasons of the recommenders, by job and resource.
using LastReasons = std::map<std::pair<uint32_t, Resource>, std::vector<Reason>>;

// Reads the chosen jobs' usage again, day by day, and their limits from the log. Returns the errors of the
// trace and of the log.
absl::StatusOr<std::vector<JobStory>> TellStories(LoadedTrace& trace, const ReplayResult& result,
                                                  DecisionLog& log, const std::vector<StoryChoice>& choices,
                                                  const LastReasons& reasons);

}  // namespace taut::tools
