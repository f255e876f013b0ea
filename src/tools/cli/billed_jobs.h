// Shared parts of the commands about money: the group of each job, and the limits of a recommender.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/price_file.h"
#include "tools/cli/input.h"
#include "tools/sim/bill_replay.h"

namespace taut::tools {

// The price file of --prices.
struct PriceFileText {
  std::string path, text;
  brain::Pricing pricing;
};
// Reads the file. An InvalidArgument error contains the option, the file and the line.
absl::StatusOr<PriceFileText> ReadPrices(const std::string& path);
// Returns InvalidArgument if a price begins at a duration and the trace is in Unix time.
absl::Status CheckPriceTimes(const PriceFileText& prices, const LoadedTrace& trace);

struct BilledGroups {
  std::vector<std::string> groups;  // names of the groups, by number
  std::vector<BilledJob> jobs;      // group and tier of each job, by JobId
};
// Assigns jobs to groups and tiers by the rules of the price file. Groups are numbered in order of appearance.
BilledGroups AssignGroups(const brain::Pricing& pricing, const std::vector<JobInfo>& jobs);

struct RecommendArgs {
  std::string recommender, warmup;  // values as on the command line
  bool quiet = false;
};
struct RecommendedLimits {
  LimitsInForce limits;
  int64_t scored_from_s = 0;          // end of the warm-up
  PerResource<double> exceeded = {};  // share of job-days with usage above the limit, by resource
};
// Replays the recommender with a progress line. Returns Cancelled if the user interrupted the replay, and
// else the errors of ToReplayOptions and Replay.
absl::StatusOr<RecommendedLimits> RecommendLimits(const RecommendArgs& args, LoadedTrace& trace);

}  // namespace taut::tools
