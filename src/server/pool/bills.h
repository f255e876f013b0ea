// The bill for a span of time, from the daemon's account and the prices of a price file. It equals the result
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
  // First window with data: earlier ones were not measured or are deleted; `to` if there are none.
  WindowId counted_from;
  brain::Bill bill;                 // groups and jobs are indices into the vectors below
  std::vector<std::string> groups;  // names
  std::vector<std::string> jobs;    // names; "job 12" if the store has no record
  std::vector<bool> whole;          // by group: `which` of BillAccount accepts all its jobs
  uint64_t without_allocation = 0;  // windows of jobs without a known limit, in which usage was charged
};

// Converts an entry of the account to one of a bill. Request and reservation are the limits in force; the
// usage in windows without a known limit. With kMaxRequestUsage, the request is the account's larger of both,
// window by window.
brain::UsageEntry EntryOf(const AccountEntry& entry, const AccountSpan& span, brain::ChargeRule rule);

// Checks that an account can be billed with a price file. FailedPrecondition for a tier charged by peak,
// which the account lacks, for a slack tax without a pool, and for a price that starts at a duration.
absl::Status CheckAccountPrices(const brain::Pricing& pricing);

// Computes the bill for the account of [from, to). The first matching rule determines a job's group, else its
// label `namespace`, else its name up to the first '/'. The pool costs from the first measured window on.
// Errors as CheckAccountPrices, MakeBill and History. O(account), and one read of the store per forgotten
// job. `which` only sets AccountBill::whole: all jobs are billed. It does not accept a job without a record.
absl::StatusOr<AccountBill> BillAccount(History& history, const FleetView& view,
                                        const brain::Pricing& pricing, WindowId from, WindowId to,
                                        const std::function<bool(const JobRecord&)>& which = nullptr);

}  // namespace taut::server
