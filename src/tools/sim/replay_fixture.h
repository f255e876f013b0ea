// Helpers of the replay's tests.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tools/sim/made_days.h"
#include "tools/sim/replay.h"

namespace taut::tools {

inline JobInfo Named(std::string name, std::string logical_name = "") {
  JobInfo j;
  j.name = std::move(name);
  j.logical_name = std::move(logical_name);
  return j;
}

inline ReplayOptions Options(std::vector<brain::PolicyPair> policies,
                             std::vector<Resource> resources = {Resource::kMemory}) {
  ReplayOptions o;
  o.policies = std::move(policies);
  o.resources = std::move(resources);
  o.warmup_s = 0;
  o.threads = 1;
  return o;
}

struct ReplayOutcome {
  ReplayResult result;
  std::vector<LimitChange> changes;
};

// Runs the whole replay. Returns the result and every limit that came into force.
inline ReplayOutcome Lived(MadeDays& source, const ReplayOptions& options, ReplayHooks hooks = {}) {
  ReplayOutcome out;
  hooks.on_change = [&](const LimitChange& c) {
    out.changes.push_back(c);
    return absl::OkStatus();
  };
  source.Finish();
  absl::StatusOr<ReplayResult> r = Replay(source, options, hooks);
  EXPECT_TRUE(r.ok()) << r.status();
  if (r.ok()) out.result = *std::move(r);
  return out;
}

using ChangeTuple = std::tuple<uint32_t, int32_t, double>;  // job, first window, limit in MiB; -1: unlimited
inline std::vector<ChangeTuple> Plain(const std::vector<LimitChange>& changes) {
  std::vector<ChangeTuple> out;
  for (const LimitChange& c : changes) {
    out.emplace_back(c.job.value, c.from.index, c.limit.has_value() ? *c.limit / kMiB : -1);
  }
  return out;
}

}  // namespace taut::tools
