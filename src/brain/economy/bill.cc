#include "brain/economy/bill.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/row_named.h"
#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

struct SharingName {
  CostSharing sharing;
  std::string_view name;
};
constexpr SharingName kSharings[] = {{CostSharing::kPlatform, "platform"},
                                     {CostSharing::kUniform, "uniform"},
                                     {CostSharing::kProportional, "proportional"}};

uint64_t Micros(Money money) { return static_cast<uint64_t>(money.micros); }

absl::Status SumUp(BillSums* sums, const BillSums& by) {
  absl::Status status = AddTo(sums->charges, by.charges);
  status.Update(AddTo(sums->credits, by.credits));
  status.Update(AddTo(sums->idle, by.idle));
  status.Update(AddTo(sums->overhead, by.overhead));
  status.Update(AddTo(sums->total, by.total));
  return status;
}

absl::Status Charge(BillSums* sums, const BillLine& line) {
  absl::Status status = AddTo(sums->charges, line.amount);
  status.Update(AddTo(sums->credits, line.credit));
  status.Update(AddTo(sums->total, {line.amount.micros - line.credit.micros}));
  return status;
}

struct LineOfJob {
  LineKey key;
  size_t job;  // index of the job within the group
  uint64_t quantity;
};

BillLine EmptyLine(const PriceSheet& sheet, const LineKey& key) {
  const PriceTier& tier = sheet.tiers[key.tier];
  const Price& price = tier.prices[key.price];
  BillLine line;
  line.key = key;
  line.rule = tier.rule;
  line.rate = price.rate(key.resource);
  line.rate_from_s = price.from_s;
  return line;
}

// Prices the group's quantities of one key. `of` has one row for each job.
absl::Status PriceLine(const PriceSheet& sheet, std::span<const LineOfJob> of, std::span<JobBill> jobs,
                       GroupBill* group) {
  BillLine line = EmptyLine(sheet, of.front().key);
  std::vector<uint64_t> quantities;
  quantities.reserve(of.size());
  for (const LineOfJob& part : of) {
    quantities.push_back(part.quantity);
    if (__builtin_add_overflow(line.quantity, part.quantity, &line.quantity))
      return absl::OutOfRangeError(
          StrCat("bill: the quantity of group ", group->group, " does not fit into 64 bits"));
  }
  const absl::StatusOr<Money> amount =
      PriceTimes(line.rate, line.quantity, QuantityPerRate(line.key.resource));
  if (!amount.ok()) {
    return absl::Status(amount.status().code(), StrCat("bill: tier \"", sheet.tiers[line.key.tier].name,
                                                       "\": ", Message(amount.status())));
  }
  line.amount = *amount;
  if (line.key.slo_missed) line.credit = ShareOf(*amount, sheet.tiers[line.key.tier].service_credit_ppm);

  const std::vector<Money> amounts = Split(line.amount, quantities);
  // Split the credit in proportion to the amounts, so that no job's credit exceeds its amount.
  std::vector<uint64_t> weights;
  weights.reserve(amounts.size());
  for (const Money part : amounts) weights.push_back(Micros(part));
  const std::vector<Money> credits = Split(line.credit, weights);
  absl::Status status = Charge(&group->sums, line);
  for (size_t i = 0; i < of.size() && status.ok(); ++i) {
    BillLine part = line;
    part.quantity = of[i].quantity;
    part.amount = amounts[i];
    part.credit = credits[i];
    status = Charge(&jobs[of[i].job].sums, part);
    jobs[of[i].job].lines.push_back(part);
  }
  group->lines.push_back(line);
  return status;
}

absl::Status PriceGroup(const PriceSheet& sheet, std::span<const MeteredJob> metered, std::span<JobBill> jobs,
                        GroupBill* group) {
  std::vector<LineOfJob> lines;
  for (size_t i = 0; i < metered.size(); ++i) {
    jobs[i].group = metered[i].group;
    jobs[i].job = metered[i].job;
    for (const MeteredLine& line : metered[i].lines) lines.push_back({line.key, i, line.quantity});
  }
  std::sort(lines.begin(), lines.end(), [](const LineOfJob& a, const LineOfJob& b) {
    return a.key != b.key ? a.key < b.key : a.job < b.job;
  });
  absl::Status status;
  for (size_t begin = 0; begin < lines.size() && status.ok();) {
    size_t end = begin + 1;
    while (end < lines.size() && lines[end].key == lines[begin].key) ++end;
    status = PriceLine(sheet, std::span(lines).subspan(begin, end - begin), jobs, group);
    begin = end;
  }
  return status;
}

// Sets machine_cost and overhead_cost of the bill.
absl::Status AddCosts(std::span<const CapacityWindow> windows, const Price& cost_price, Bill* bill) {
  for (const CapacityWindow& w : windows) {
    Money cost;
    if (w.machine_cost.has_value()) {
      cost = *w.machine_cost;
    } else {
      for (const Resource r : kResources) {
        const absl::StatusOr<Money> of =
            PriceTimes(cost_price.rate(r), w.capacity[static_cast<size_t>(r)], QuantityPerRate(r));
        absl::Status status = of.ok() ? AddTo(cost, *of) : of.status();
        if (!status.ok()) return status;
      }
    }
    if (cost < Money{} || w.overhead < Money{})
      return absl::InvalidArgumentError(StrCat("bill: the capacity from second ", w.start_s, " costs ",
                                               ToText(cost), " and has an overhead of ", ToText(w.overhead),
                                               "; neither may be negative"));
    absl::Status status = AddTo(bill->machine_cost, cost);
    status.Update(AddTo(bill->overhead_cost, w.overhead));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Shares a cost among groups, then each group's part among its jobs. Stores the parts in the field `to`.
absl::Status Share(Money cost, CostSharing sharing, Money BillSums::*to, Bill* bill) {
  if (sharing == CostSharing::kPlatform || bill->groups.empty() || cost == Money{}) return absl::OkStatus();
  const auto weight = [sharing](const BillSums& sums) {
    return sharing == CostSharing::kUniform ? 1 : Micros(sums.charges);
  };
  const auto give = [to](BillSums* sums, Money share) {
    sums->*to = share;
    return AddTo(sums->total, share);
  };
  std::vector<uint64_t> weights;
  for (const GroupBill& group : bill->groups) weights.push_back(weight(group.sums));
  const std::vector<Money> of_groups = Split(cost, weights);
  absl::Status status;
  for (size_t g = 0; g < bill->groups.size(); ++g) {
    GroupBill& group = bill->groups[g];
    const std::span<JobBill> jobs = std::span(bill->jobs).subspan(group.first_job, group.jobs);
    status.Update(give(&group.sums, of_groups[g]));
    weights.clear();
    for (const JobBill& job : jobs) weights.push_back(weight(job.sums));
    const std::vector<Money> of_jobs = Split(of_groups[g], weights);
    for (size_t i = 0; i < jobs.size(); ++i) status.Update(give(&jobs[i].sums, of_jobs[i]));
  }
  return status;
}

absl::Status SumGroups(Bill* bill) {
  bill->sums = {};
  absl::Status status;
  for (const GroupBill& group : bill->groups) status.Update(SumUp(&bill->sums, group.sums));
  return status;
}

// Computes the costs that charges do not recover, and assigns each cost to its bearer.
absl::Status ShareCosts(const BillOptions& options, Bill* bill) {
  const Money charges = bill->sums.charges;
  bill->idle_cost = {std::max<int64_t>(0, bill->machine_cost.micros - charges.micros)};
  const int64_t beyond = std::max<int64_t>(0, charges.micros - bill->machine_cost.micros);
  bill->unrecovered_overhead = {std::max<int64_t>(0, bill->overhead_cost.micros - beyond)};
  absl::Status status = Share(bill->idle_cost, options.idle, &BillSums::idle, bill);
  status.Update(Share(bill->unrecovered_overhead, options.overhead, &BillSums::overhead, bill));
  if (status.ok()) status = SumGroups(bill);
  const absl::StatusOr<Money> cost = Add(bill->machine_cost, bill->overhead_cost);
  if (!status.ok() || !cost.ok()) return status.ok() ? cost.status() : status;
  // the difference cannot overflow, because both amounts are >= 0
  bill->platform = {cost->micros - bill->sums.total.micros};
  return absl::OkStatus();
}

}  // namespace

std::string_view Name(CostSharing sharing) {
  for (const SharingName& s : kSharings) {
    if (s.sharing == sharing) return s.name;
  }
  return "unknown";
}

absl::StatusOr<CostSharing> CostSharingNamed(std::string_view name) {
  const auto row = RowNamed("cost sharing", kSharings, name);
  if (!row.ok()) return row.status();
  return (*row)->sharing;
}

std::string Explain(const PriceSheet& sheet, const BillLine& line) {
  const bool cpu = InCores(line.key.resource);
  const uint64_t per_rate = QuantityPerRate(line.key.resource);
  const uint64_t whole = line.quantity / per_rate;
  // Quantity in millionths, rounded down.
  const uint64_t millionths = line.quantity % per_rate * uint64_t{kWholePpm} / per_rate;
  std::string text =
      StrCat(sheet.tiers[line.key.tier].name, ", ", Name(line.key.resource), " by ", Name(line.rule));
  if (line.key.kind == LineKind::kSlackTax) text += ", share of the slack";
  if (line.key.slo_missed) text += ", SLO missed";
  StrAppend(&text, fmt::format(": {}.{:06} {} at ", whole, millionths, cpu ? "core-hours" : "GiB-hours"),
            ToText(line.rate), " are ", ToText(line.amount));
  if (line.key.slo_missed) StrAppend(&text, ", credited ", ToText(line.credit));
  return text;
}

absl::StatusOr<Bill> PriceJobs(const PriceSheet& sheet, std::vector<MeteredJob> metered) {
  Bill bill;
  bill.jobs.resize(metered.size());
  for (size_t begin = 0; begin < metered.size();) {
    size_t end = begin + 1;
    while (end < metered.size() && metered[end].group == metered[begin].group) ++end;
    GroupBill group;
    group.group = metered[begin].group;
    group.first_job = begin;
    group.jobs = end - begin;
    const absl::Status status = PriceGroup(sheet, std::span(metered).subspan(begin, group.jobs),
                                           std::span(bill.jobs).subspan(begin, group.jobs), &group);
    if (!status.ok()) return status;
    bill.groups.push_back(std::move(group));
    begin = end;
  }
  if (absl::Status status = SumGroups(&bill); !status.ok()) return status;
  return bill;
}

absl::StatusOr<Bill> MakeBill(const PriceSheet& sheet, std::span<const CapacityWindow> windows,
                              Metering metering, const BillOptions& options) {
  absl::StatusOr<std::vector<MeteredJob>> metered = metering.Finish(options.cap_slack);
  if (!metered.ok()) return metered.status();
  absl::StatusOr<Bill> bill = PriceJobs(sheet, *std::move(metered));
  if (!bill.ok()) return bill;
  const auto slack = metering.slack();
  bill->slack.assign(slack.begin(), slack.end());
  absl::Status status = AddCosts(windows, options.cost_price, &*bill);
  if (status.ok()) status = ShareCosts(options, &*bill);
  if (!status.ok()) return status;
  return bill;
}

absl::StatusOr<Bill> MakeBill(const PriceSheet& sheet, std::span<const CapacityWindow> windows,
                              std::span<const UsageEntry> entries, const BillOptions& options) {
  absl::StatusOr<Metering> metering = Metering::Make(sheet, windows);
  if (!metering.ok()) return metering.status();
  for (const UsageEntry& entry : entries) {
    if (absl::Status status = metering->Add(entry); !status.ok()) return status;
  }
  return MakeBill(sheet, windows, *std::move(metering), options);
}

}  // namespace taut::brain
