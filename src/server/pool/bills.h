// The bill of a time, from the daemon's account and the prices of a price file: the same arithmetic as `taut
// bill`, to the micro-unit.
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
  WindowId from, to;                // what was read; to: exclusive
  WindowId counted_from;            // before, tautd measured nothing or has deleted it; `to` if all is gone
  brain::Bill bill;                 // groups and jobs by the numbers of these
  std::vector<std::string> groups;  // names
  std::vector<std::string> jobs;    // names; of one that the store has forgotten "job 12"
  std::vector<bool> whole;          // by group: all its jobs are of BillAccount's `which`
  uint64_t without_allocation = 0;  // windows of jobs in which no limit was known: usage was charged
};

// One entry of the account as an entry of a bill. Request and reservation are the limits that tasks ran at; for
// windows in which none was known, the usage. Under kMaxRequestUsage the request is the account's own larger of
// both, window by window.
brain::UsageEntry EntryOf(const AccountEntry& entry, const AccountSpan& span, brain::ChargeRule rule);

// What of a price file cannot be billed from an account: FailedPrecondition for a tier whose rule is peak, of
// which it has none, and for a slack tax without a pool.
absl::Status CheckAccountPrices(const brain::Pricing& pricing);

// Of the account of [from, to). A job's group is that of the first rule that fits, else its label `namespace`,
// else the name up to its first '/'. The pool costs from the first window that tautd has on. Errors as
// CheckAccountPrices, MakeBill and History. O(account), and a read of the store for each forgotten job. `which`:
// fills AccountBill::whole; all jobs are billed whatever it says, and one whose record is gone is none of them.
absl::StatusOr<AccountBill> BillAccount(History& history, const FleetView& view,
                                        const brain::Pricing& pricing, WindowId from, WindowId to,
                                        const std::function<bool(const JobRecord&)>& which = nullptr);

}  // namespace taut::server
