// Configuration of memory probes: the probed tasks, and the options of the probes.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "common/model/tier.h"
#include "node/agent/memory_probe.h"

namespace taut::node {

struct ProbeSelection {
  std::array<bool, kTiers> tiers{};  // tiers whose tasks are all probed
  std::string jobs;  // pattern of jobs whose tasks are also probed (common/base/pattern.h); "": none
  ProbeOptions options;

  bool is_on() const { return !jobs.empty() || std::find(tiers.begin(), tiers.end(), true) != tiers.end(); }
};

}  // namespace taut::node
