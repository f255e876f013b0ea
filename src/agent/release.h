// The way back: every limit that the agent ever set and that still stands becomes its owner's again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agent/ledger.h"
#include "ports/task_group.h"

namespace taut {

enum class Whereabouts : uint8_t {
  kThere,
  kAsleep,    // a stopped container, which keeps its limits until it is started again
  kNotKnown,  // whoever knows cannot say now
  kGone
};
// Of a task that was changed, whether a rule still finds it or not.
Whereabouts WhereIs(const std::string& identity, const LedgerEntry& entry,
                    std::span<TaskFinder* const> finders);

struct Released {
  std::string job, task, text;  // "memory.max 67108864 -> none", or why not
  bool ok = true;
};

// What cannot be given back stays in the ledger for another try; what is gone needs nothing. A limit that
// somebody else has changed since stays as it is.
std::vector<Released> Release(Ledger& ledger, std::span<TaskFinder* const> finders);

}  // namespace taut
