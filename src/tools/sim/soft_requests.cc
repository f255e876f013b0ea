#include "tools/sim/soft_requests.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fmt/format.h"

namespace taut::tools {

void JobLimits::Add(const LimitChange& change) {
  std::optional<float> limit;
  if (change.limit.has_value()) limit = static_cast<float>(*change.limit);
  changes_[change.job.value].push_back({change.from, limit});
}

std::optional<float> JobLimits::At(JobId job, WindowId window) const {
  const std::vector<Change>& own = changes_[job.value];
  const auto after = std::ranges::upper_bound(own, window, {}, &Change::from);
  return after == own.begin() ? std::nullopt : (after - 1)->limit;
}

absl::StatusOr<JobLimits> ReplayJobLimits(DaySource& source, const SoftMemoryOptions& options,
                                          Feedback feedback, const SoftMemoryHooks& hooks) {
  ReplayOptions replay;
  replay.policies = {options.requests};
  replay.resources = {Resource::kMemory};
  replay.settings = options.settings;
  replay.feedback = feedback;
  replay.restart_delay_s = options.restart_s;
  replay.warmup_s = options.machines.warmup_s;
  replay.threads = options.threads;
  JobLimits out(source.jobs().size());
  ReplayHooks replay_hooks;
  replay_hooks.on_change = [&](const LimitChange& c) {
    out.Add(c);
    return absl::OkStatus();
  };
  replay_hooks.on_progress = [&](uint64_t done, uint64_t total, uint64_t) {
    if (hooks.on_progress)
      hooks.on_progress(feedback == Feedback::kNone ? "requests" : "hard limits",
                        static_cast<double>(done) / static_cast<double>(total));
  };
  replay_hooks.should_stop = hooks.should_stop;
  const absl::StatusOr<ReplayResult> result = Replay(source, replay, replay_hooks);
  if (!result.ok()) return result.status();
  if (result->partial) return absl::CancelledError("interrupted");
  return out;
}

absl::Status CheckTierShares(const SoftMemoryOptions& options) {
  const double sum = std::accumulate(options.shares.begin(), options.shares.end(), 0.0);
  const bool negative = std::ranges::any_of(options.shares, [](double s) { return !(s >= 0); });
  if (!negative && std::abs(sum - 1) < 1e-6) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "invalid shares of the tiers: they add up to {:.6g}, expected shares of 0 to 1 that add up to 1", sum));
}

std::vector<TraceTier> TiersOfJobs(const DaySource& source, const SoftMemoryOptions& options) {
  if (options.made_tiers) return std::vector<TraceTier>(source.jobs().size(), TraceTier::kUnknown);
  std::vector<std::optional<int>> priorities;
  for (const JobInfo& job : source.jobs()) priorities.push_back(job.priority);
  const PriorityBands bands = BandsOf(priorities);
  std::vector<TraceTier> out;
  for (const std::optional<int>& priority : priorities) out.push_back(TierOf(priority, bands));
  return out;
}

}  // namespace taut::tools
