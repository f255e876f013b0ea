// What jobs used and had over time, in whole units that add up: what the cost of a job is made of.
#pragma once

#include <array>
#include <cstdint>

#include "common/base/time.h"
#include "common/model/resource.h"
#include "common/model/usage.h"

namespace taut {

// Of one resource: millicore-seconds or mebibyte-seconds, over all tasks.
struct AccountAmounts {
  uint64_t usage = 0;
  uint64_t allocation =
      0;  // the limits that the tasks ran at, where they are known, or the requests beside them
  // Of each window the larger of usage and allocation: what the OpenCost specification charges.
  uint64_t billed = 0;
  uint64_t owner = 0;     // what the owner asks for; where that is not known, the allocation
  uint64_t would_be = 0;  // the recommended limits; where there are none, or no owner's, `owner`
  uint32_t windows = 0;   // in which it was measured
  uint32_t windows_without_allocation = 0;

  void Add(const AccountAmounts& more) {
    usage += more.usage;
    allocation += more.allocation;
    billed += more.billed;
    owner += more.owner;
    would_be += more.would_be;
    windows += more.windows;
    windows_without_allocation += more.windows_without_allocation;
  }
  bool operator==(const AccountAmounts&) const = default;
};

// A job in the windows of some time.
struct AccountEntry {
  JobId job;
  PerResource<AccountAmounts> of = {};  // by Resource

  const AccountAmounts& amounts(Resource r) const { return of[IndexOf(r)]; }
  void Add(const AccountEntry& more) {
    for (size_t r = 0; r < of.size(); ++r) of[r].Add(more.of[r]);
  }
  bool operator==(const AccountEntry&) const = default;
};

// What is known of a day of a job only later: of windows that no entry had.
struct LateAccount {
  WindowId first;  // of the day
  AccountEntry entry;
};

}  // namespace taut
