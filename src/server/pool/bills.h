// Computes the bill for a span of time from the daemon's account and a price file. `taut get bills` computes an
// equal bill, to the micro-unit, from files with the same usage.
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
  WindowId from, to;  // windows that were read, [from, to)
  // First window with data; earlier windows were not measured or were deleted. Equals `to` if no window has data.
  WindowId counted_from;
  brain::Bill bill;  // bill, whose groups and jobs are indices into the vectors below
  std::vector<std::string> groups;
  std::vector<std::string> jobs;  // names of the jobs; "job 12" if the store has no record of job 12
  // true if `which` of BillAccount() accepts all jobs of the group, by group
  std::vector<bool> whole;
  uint64_t without_allocation = 0;  // job-windows without a known limit, whose usage was charged
};

// Converts an entry of the account to an entry of a bill. Request and reservation are the limits in force, or the
// usage in windows with an unknown limit. With kMaxRequestUsage, the request is the account's sum over windows of
// the larger of limit and usage.
brain::UsageEntry EntryOf(const AccountEntry& entry, const AccountSpan& span, brain::ChargeRule rule);

// Returns FailedPrecondition if an account cannot be billed with this price file. Causes: a tier is charged by
// peak, which the account does not contain; there is a slack tax without a pool; the start of a price is a
// duration.
absl::Status CheckAccountPrices(const brain::Pricing& pricing);

// Computes the bill for the account of [from, to). A job's group is the group of the first matching rule, else the
// job's label `namespace`, else the job's name up to the first '/'. The pool's costs start with the first measured
// window. All jobs are billed; `which` only determines AccountBill::whole, and rejects jobs without a record.
// Returns errors of CheckAccountPrices(), MakeBill() and History. O(account), with one read of the store per
// forgotten job.
absl::StatusOr<AccountBill> BillAccount(History& history, const FleetView& view,
                                        const brain::Pricing& pricing, WindowId from, WindowId to,
                                        const std::function<bool(const JobRecord&)>& which = nullptr);

}  // namespace taut::server
