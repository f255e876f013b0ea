// Release: every limit that the agent set and that is still in force becomes its owner's again.
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
  kNotKnown,  // the source (Docker) cannot be asked now
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
// another program has changed since stays as it is.
std::vector<Released> Release(Ledger& ledger, std::span<TaskFinder* const> finders);

}  // namespace taut
