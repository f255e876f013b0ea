// The bill of a period: the charges of each group and job, line by line, and who bears the pool's costs that the
// charges do not recover. Showback and chargeback use these numbers.
//
// Rounding. Per group, the quantities of a line (tier, resource, kind, price, SLO kept or missed) are summed
// exactly and priced once, to the nearest micro-unit. This amount is split among the group's jobs by quantity. A
// group's charges therefore do not depend on how its work is divided into jobs, and a job's line deviates less
// than 1.5 micro-units from quantity * rate.
// An entry that spans price changes or edges of capacity windows is split there into whole units
// (millicore-seconds or mebibyte-seconds). Cutting such an entry in two changes the quantities by at most 3 units
// in each part of time, and with a slack tax by at most 3 * slack / sum(request) units. Any other entry can be cut
// without a change.
//
// Monotonicity. More usage, request, reservation or peak never lowers a group's charges, or charges less credits,
// except for this rounding. The total is monotonic only without missed SLOs, since a credited charge lowers the
// shared idle cost as other charges do. With a slack tax, monotonicity holds within one tier: a group that uses
// more in a cheap tier leaves less slack to be taxed in an expensive tier.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/metering.h"
#include "brain/economy/money.h"
#include "brain/economy/price_sheet.h"

namespace taut::brain {

// The bearer of a cost that the charges do not recover.
enum class CostSharing : uint8_t {
  kPlatform,      // the operator of the pool
  kUniform,       // equal for every group with an entry, and for every job within a group
  kProportional,  // in proportion to charges before credits; equal if there are no charges
};
std::string_view Name(CostSharing sharing);  // "platform", "uniform", "proportional"
// Returns InvalidArgument with the choices for an unknown name.
absl::StatusOr<CostSharing> CostSharingNamed(std::string_view name);

// Who bears costs, and how the slack tax is capped.
struct BillOptions {
  CostSharing idle = CostSharing::kPlatform;
  CostSharing overhead = CostSharing::kPlatform;
  // True: caps the slack tax at sum(request) - sum(usage), so that idle capacity that no one requested is not
  // taxed. This capacity remains idle cost, which `idle` assigns.
  bool cap_slack = false;
  // Cost of machines in capacity windows without a machine_cost; its from_s is ignored.
  Price cost_price;
};

// A charge of a job or group: one quantity at one rate.
struct BillLine {
  LineKey key;
  ChargeRule rule = ChargeRule::kReservation;
  Money rate;               // per core-hour or GiB-hour
  int64_t rate_from_s = 0;  // start of the price's validity, seconds since the epoch
  // Millicore-seconds or mebibyte-seconds; QuantityPerRate(resource) units cost one `rate`.
  uint64_t quantity = 0;
  Money amount;  // >= 0
  Money credit;  // in [0, amount]; above 0 only if the line's SLO was missed
};

// Returns, for example, "batch, cpu by usage: 12.500000 core-hours at 0.03 are 0.375". REQUIRES: `sheet` is the
// bill's.
std::string Explain(const PriceSheet& sheet, const BillLine& line);

// total = charges - credits + idle + overhead; every term is >= 0.
struct BillSums {
  Money charges;   // of all lines, before credits
  Money credits;   // service credits for a missed SLO
  Money idle;      // share of the pool's idle cost
  Money overhead;  // share of the pool's overhead
  Money total;
};

// Charges of a job.
struct JobBill {
  uint32_t group = 0, job = 0;
  std::vector<BillLine> lines;  // ordered by key
  BillSums sums;
};
// Sums over the lines of the group's jobs.
struct GroupBill {
  uint32_t group = 0;
  size_t first_job = 0, jobs = 0;  // range in Bill::jobs
  std::vector<BillLine> lines;     // ordered by key
  BillSums sums;
};

struct Bill {
  std::vector<GroupBill> groups;  // ordered by group
  std::vector<JobBill> jobs;      // ordered by group and job
  BillSums sums;                  // over all groups
  // Costs of machines and overhead in all capacity windows.
  Money machine_cost, overhead_cost;
  // Costs that the charges do not recover. Charges recover machines first: idle_cost is max(0, machine_cost -
  // charges). The remaining charges recover overhead.
  Money idle_cost, unrecovered_overhead;
  // Cost that the platform bears, including credits: machine_cost + overhead_cost - sums.total. Negative: a
  // margin.
  Money platform;
  std::vector<SlackWindow> slack;  // basis of the slack tax; for WhatIf
};

// Computes the bill. `windows` ascend without overlap; the list may be empty if no cost has to be recovered and no
// tier has a slack tax. The order of entries does not matter. Returns the errors of Metering, InvalidArgument for
// a negative cost, OutOfRange if a sum of money does not fit. O(n log n) for n entries; space O(n) with a slack
// tax, else O(jobs).
absl::StatusOr<Bill> MakeBill(const PriceSheet& sheet, std::span<const CapacityWindow> windows,
                              std::span<const UsageEntry> entries, const BillOptions& options = {});

// Computes the bill from entries that were added one by one.
absl::StatusOr<Bill> MakeBill(const PriceSheet& sheet, std::span<const CapacityWindow> windows,
                              Metering metering, const BillOptions& options = {});

// Returns charges and credits for the result of Metering::Finish, without idle cost and overhead.
absl::StatusOr<Bill> PriceJobs(const PriceSheet& sheet, std::vector<MeteredJob> metered);

}  // namespace taut::brain
