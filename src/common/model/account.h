// Accounts of jobs: usage and allocation over time in integer units, so that sums are exact. Costs are
// computed from these accounts.
#pragma once

#include <array>
#include <cstdint>

#include "common/base/time.h"
#include "common/model/resource.h"
#include "common/model/usage.h"

namespace taut {

// Amounts of one resource over all tasks, in millicore-seconds or mebibyte-seconds.
struct AccountAmounts {
  uint64_t usage = 0;
  uint64_t allocation = 0;  // known limits of the tasks, or else their requests
  // Sum over windows of the larger of usage and allocation, which the OpenCost specification charges.
  uint64_t billed = 0;
  uint64_t owner = 0;     // the owner's request; the allocation where the request is unknown
  uint64_t would_be = 0;  // recommended limits; `owner` if there is no recommendation or no owner's limit
  uint32_t windows = 0;   // windows with a measurement
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

// A job's amounts over a range of windows.
struct AccountEntry {
  JobId job;
  PerResource<AccountAmounts> of = {};  // amounts, indexed by Resource

  const AccountAmounts& amounts(Resource r) const { return of[IndexOf(r)]; }
  void Add(const AccountEntry& more) {
    for (size_t r = 0; r < of.size(); ++r) of[r].Add(more.of[r]);
  }
  bool operator==(const AccountEntry&) const = default;
};

// An addition to a past day of a job, from windows that no entry contains yet.
struct LateAccount {
  WindowId first;  // first window of the day
  AccountEntry entry;
};

}  // namespace taut
