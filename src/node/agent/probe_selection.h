// Which tasks are probed, and how, as configured.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "common/model/tier.h"
#include "node/agent/memory_probe.h"

namespace taut::node {

struct ProbeSelection {
  std::array<bool, kTiers> tiers{};  // tasks of these tiers
  std::string jobs;  // and those whose job fits this pattern (common/base/pattern.h); "": none
  ProbeOptions options;

  bool is_on() const { return !jobs.empty() || std::find(tiers.begin(), tiers.end(), true) != tiers.end(); }
};

}  // namespace taut::node
