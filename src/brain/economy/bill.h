// Computes the bill of a period. The bill has the charges of each group and job, line by line. It also has the
// costs of the pool that the charges do not recover, with the bearers of these costs. Showback and chargeback use
// these numbers.
//
// Rounding. Per group, the quantities of a line (tier, resource, kind, price, SLO kept or missed) are summed
// exactly and priced once, to the nearest micro-unit. This amount is split among the group's jobs by quantity. A
// group's charges therefore do not depend on how its work is divided into jobs, and a job's line deviates by
// less than 1.5 micro-units from quantity * rate.
// An entry that spans price changes or edges of capacity windows is split at these times into whole units
// (millicore-seconds or mebibyte-seconds). Dividing such an entry in two changes the quantities by at most 3
// units in each part of time. With a slack tax, the change is at most 3 * slack / sum(request) units. Dividing
// any other entry changes nothing.
//
// Monotonicity. More usage, request, reservation or peak never lowers a group's charges, or charges less
// credits, except for this rounding. The total is monotonic only without missed SLOs, because a credited charge
// lowers the shared idle cost like any other charge. With a slack tax, monotonicity holds within one tier: a
// group that uses more in a cheap tier leaves less slack to be taxed in an expensive tier.
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

// The bearer of a cost that charges do not recover.
enum class CostSharing : uint8_t {
  kPlatform,  // the operator of the pool
  kUniform,   // all groups with an entry, in equal parts, and all jobs of a group in equal parts
  // groups and jobs in proportion to their charges before credits; equal parts if there are no charges
  kProportional,
};
std::string_view Name(CostSharing sharing);  // returns "platform", "uniform" or "proportional"
// Returns InvalidArgument with the choices for an unknown name.
absl::StatusOr<CostSharing> CostSharingNamed(std::string_view name);

// Options that assign costs to bearers and cap the slack tax.
struct BillOptions {
  CostSharing idle = CostSharing::kPlatform;
  CostSharing overhead = CostSharing::kPlatform;
  // True if the slack tax is capped at sum(request) - sum(usage), so that idle capacity that no one requested is
  // not taxed. Such capacity remains idle cost, which `idle` assigns.
  bool cap_slack = false;
  // Rates for the machines of capacity windows without a machine_cost; from_s is ignored.
  Price cost_price;
};

// A charge of a job or group: one quantity at one rate.
struct BillLine {
  LineKey key;
  ChargeRule rule = ChargeRule::kReservation;
  Money rate;               // price per core-hour or GiB-hour
  int64_t rate_from_s = 0;  // time from which the rate is valid, seconds since the epoch
  // Millicore-seconds or mebibyte-seconds; QuantityPerRate(resource) units cost one `rate`.
  uint64_t quantity = 0;
  Money amount;  // charge before credits, >= 0
  Money credit;  // service credit, in [0, amount]; above 0 only if the job missed its SLO
};

// Returns the line as text, such as "batch, cpu by usage: 12.500000 core-hours at 0.03 are 0.375". REQUIRES:
// `sheet` is the bill's sheet.
std::string Explain(const PriceSheet& sheet, const BillLine& line);

// Sums of a job, group or bill. total = charges - credits + idle + overhead; every term is >= 0.
struct BillSums {
  Money charges;   // sum of all lines, before credits
  Money credits;   // service credits for missed SLOs
  Money idle;      // share of the pool's idle cost
  Money overhead;  // share of the pool's overhead
  Money total;
};

// The charges of one job.
struct JobBill {
  uint32_t group = 0, job = 0;
  std::vector<BillLine> lines;  // lines of the job's charges, ordered by LineKey
  BillSums sums;
};
// The charges of one group. Each line is the sum of its jobs' lines with an equal key.
struct GroupBill {
  uint32_t group = 0;
  size_t first_job = 0, jobs = 0;  // range of the group's jobs in Bill::jobs
  std::vector<BillLine> lines;     // lines of the group's charges, ordered by LineKey
  BillSums sums;
};

struct Bill {
  std::vector<GroupBill> groups;  // bills of the groups, ordered by group
  std::vector<JobBill> jobs;      // bills of the jobs, ordered by group and job
  BillSums sums;                  // sums over all groups
  // Cost of machines and of overhead in all capacity windows.
  Money machine_cost, overhead_cost;
  // Costs that the charges do not recover. Charges recover machines first: idle_cost is max(0, machine_cost -
  // charges). The rest of the charges recovers overhead.
  Money idle_cost, unrecovered_overhead;
  // Cost that the platform bears, including credits: machine_cost + overhead_cost - sums.total. A negative value
  // is a margin.
  Money platform;
  std::vector<SlackWindow> slack;  // basis of the slack tax, for WhatIf
};

// Computes the bill. `windows` ascend without overlap, and may be empty if no cost has to be recovered and no
// tier has a slack tax. The order of entries does not matter. Returns the errors of Metering, InvalidArgument
// for a negative cost, and OutOfRange if a sum of money does not fit. O(n log n) for n entries; space O(n) with
// a slack tax, else O(jobs).
absl::StatusOr<Bill> MakeBill(const PriceSheet& sheet, std::span<const CapacityWindow> windows,
                              std::span<const UsageEntry> entries, const BillOptions& options = {});

// Computes the bill from the entries that were added to `metering`.
absl::StatusOr<Bill> MakeBill(const PriceSheet& sheet, std::span<const CapacityWindow> windows,
                              Metering metering, const BillOptions& options = {});

// Returns a bill with charges and credits of the jobs that Metering::Finish returned, without idle cost and
// overhead.
absl::StatusOr<Bill> PriceJobs(const PriceSheet& sheet, std::vector<MeteredJob> metered);

}  // namespace taut::brain
