// The bill of a period: what each group and job is charged, line by line, and who bears what the charges do
// not recover of the pool's cost. Showback and chargeback are the same figures.
//
// Rounding. Per group, the quantities of a line (tier, resource, kind, price, SLO kept or missed) are added
// up whole and priced once, to the nearest micro-unit; its jobs' amounts are that amount split by quantity.
// So a group's charges do not depend on how its work is cut into jobs, and a job's line is less than 1.5
// micro-units off quantity * rate. An entry that lies across price changes or edges of capacity windows is
// split there to whole units (a millicore-second or mebibyte-second): cutting it in two moves at most 3 units
// in each part of time, and with a slack tax slack / sum(request) times that; any other entry can be cut
// without a change.
//
// In charges, and in charges less credits, more usage, request, reservation or peak never costs a group less
// but for that rounding, nor in the total if no SLO was missed: a charge that is credited lowers the idle
// cost to be shared as any other does. Beside a slack tax it holds within one tier: a group that uses more in
// a cheap tier leaves less slack to be taxed in a dear one.
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

// Who bears a cost that the charges do not recover.
enum class CostSharing : uint8_t {
  kPlatform,      // those who run the pool
  kUniform,       // every group with an entry the same, and in it every job
  kProportional,  // in proportion to the charges before credits; equal if no one is charged
};
std::string_view Name(CostSharing sharing);  // "platform", "uniform", "proportional"
// InvalidArgument naming the choices.
absl::StatusOr<CostSharing> CostSharingNamed(std::string_view name);

struct BillOptions {
  CostSharing idle = CostSharing::kPlatform;
  CostSharing overhead = CostSharing::kPlatform;
  // The slack tax is of at most sum(request) - sum(usage): idle capacity that no one asked for is not taxed.
  // It stays idle cost, so that `idle` says who bears it.
  bool cap_slack = false;
  // Of machines, for capacity windows without a machine_cost; its from_s is not read.
  Price cost_price;
};

struct BillLine {
  LineKey key;
  ChargeRule rule = ChargeRule::kReservation;
  Money rate;               // per core-hour or GiB-hour
  int64_t rate_from_s = 0;  // since when
  uint64_t quantity = 0;    // millicore-seconds or mebibyte-seconds; QuantityPerRate of them cost the rate
  Money amount;             // >= 0
  Money credit;             // >= 0, <= amount; only where the SLO was missed
};

// "batch, cpu by usage: 12.500000 core-hours at 0.03 are 0.375". REQUIRES: the sheet is that of the bill.
std::string Explain(const PriceSheet& sheet, const BillLine& line);

// total = charges - credits + idle + overhead; none is negative.
struct BillSums {
  Money charges;   // of all lines, before credits
  Money credits;   // service credits for a missed SLO
  Money idle;      // share of the pool's idle cost
  Money overhead;  // share of the pool's overhead
  Money total;
};

struct JobBill {
  uint32_t group = 0, job = 0;
  std::vector<BillLine> lines;  // by key
  BillSums sums;
};
// The lines and sums of its jobs added up.
struct GroupBill {
  uint32_t group = 0;
  size_t first_job = 0, jobs = 0;  // in Bill::jobs
  std::vector<BillLine> lines;     // by key
  BillSums sums;
};

struct Bill {
  std::vector<GroupBill> groups;  // by group
  std::vector<JobBill> jobs;      // by group and job
  BillSums sums;                  // of all groups
  // To be recovered: machines and overhead of all capacity windows.
  Money machine_cost, overhead_cost;
  // Not recovered by charges, which recover machines first: max(0, machine_cost - charges), and then
  // overhead.
  Money idle_cost, unrecovered_overhead;
  // machine_cost + overhead_cost - sums.total: what the platform bears, credits included; negative is a
  // margin.
  Money platform;
  std::vector<SlackWindow> slack;  // what the slack tax was made of; for WhatIf
};

// `windows` ascend and do not overlap; none if no cost is to be recovered and no tier has a slack tax.
// Entries may come in any order: the bill is the same. Errors as Metering's, and InvalidArgument for a
// negative cost, OutOfRange if a sum of money does not fit. O(n log n) for n entries, O(n) space with a slack
// tax, else O(jobs).
absl::StatusOr<Bill> MakeBill(const PriceSheet& sheet, std::span<const CapacityWindow> windows,
                              std::span<const UsageEntry> entries, const BillOptions& options = {});

// The same from entries that were added one by one.
absl::StatusOr<Bill> MakeBill(const PriceSheet& sheet, std::span<const CapacityWindow> windows,
                              Metering metering, const BillOptions& options = {});

// The charges and credits of what Metering::Finish returned; no idle cost or overhead.
absl::StatusOr<Bill> PriceJobs(const PriceSheet& sheet, std::vector<MeteredJob> metered);

}  // namespace taut::brain
