// The bill for a span of time, from the daemon's account and the prices of a price file. The bill equals that
// of `taut get bills` to the micro-unit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/pricing.h"
#include "common/model/account.h"
#include "server/control/fleet_view.h"
#include "server/store/store.h"

namespace taut::server {

struct AccountBill {
  WindowId from, to;  // windows that were read; `to` is exclusive
  // First window with data; earlier windows were not measured or are deleted. `to` if no window has data.
  WindowId counted_from;
  brain::Bill bill;                 // groups and jobs are indices into the vectors below
  std::vector<std::string> groups;  // names of the groups
  std::vector<std::string> jobs;    // names; "job 12" if the store has no record of job 12
  std::vector<bool> whole;          // by group: true if `which` of BillAccount accepts all jobs of the group
  uint64_t without_allocation = 0;  // windows of jobs without a known limit; their usage was charged
};

// Converts an entry of the account to an entry of a bill. Request and reservation are the limits in force; in
// windows without a known limit, they are the usage. With kMaxRequestUsage, the request is the account's sum
// of the larger of limit and usage per window.
brain::UsageEntry EntryOf(const AccountEntry& entry, const AccountSpan& span, brain::ChargeRule rule);

// Checks that an account can be billed with a price file. Returns FailedPrecondition for a tier that is
// charged by peak, because the account has no peaks, for a slack tax without a pool, and for a price that
// starts at a duration.
absl::Status CheckAccountPrices(const brain::Pricing& pricing);

// Computes the bill for the account of [from, to). A job's group is that of the first matching rule, else the
// job's label `namespace`, else the job's name up to the first '/'. The pool's costs begin with the first
// measured window. All jobs are billed; `which` only sets AccountBill::whole and does not accept jobs without
// a record. Errors as CheckAccountPrices, MakeBill and History. O(account), and one read of the store per
// forgotten job.
absl::StatusOr<AccountBill> BillAccount(History& history, const FleetView& view,
                                        const brain::Pricing& pricing, WindowId from, WindowId to,
                                        const std::function<bool(const JobRecord&)>& which = nullptr);

}  // namespace taut::server
