// Orders to the tasks of one job, for tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/agents/order_table.h"

namespace taut::server {

using Names = std::vector<std::string>;

// Returns an order of memory for the job shop/web. `tasks`: absent for all tasks.
inline TargetOrder OrderOf(uint64_t decision, std::optional<double> limit = 1e8,
                           std::optional<Names> tasks = std::nullopt) {
  return {decision, "shop/web", Resource::kMemory, limit, std::move(tasks)};
}

}  // namespace taut::server
