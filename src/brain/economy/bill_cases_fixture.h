// Random pools, price sheets and entries for tests of bills.
#pragma once

#include <string>
#include <vector>

#include "brain/economy/bill.h"
#include "common/base/random.h"
#include "common/base/strings.h"

namespace taut::brain {

struct BillCase {
  PriceSheet sheet;
  std::vector<CapacityWindow> windows;  // windows that cover [0, kSeconds) without a gap
  std::vector<UsageEntry> entries;
  BillOptions options;

  static constexpr int64_t kSeconds = 4 * 3600;
  absl::StatusOr<Bill> Make() const { return MakeBill(sheet, windows, entries, options); }
  // Returns an upper bound on the micro-units that one millicore-second or mebibyte-second costs.
  int64_t MostOfAUnit() const {
    int64_t most = 0;
    for (const PriceTier& tier : sheet.tiers) {
      for (const Price& price : tier.prices) {
        for (const Resource r : kResources)
          most = std::max(most, PriceTimes(price.rate(r), 1, QuantityPerRate(r))->micros + 1);
      }
    }
    return most;
  }
};

inline UsageEntry RandomEntry(Rng& rng, size_t tiers) {
  UsageEntry entry;
  entry.start_s = static_cast<int64_t>(rng.Below(BillCase::kSeconds));
  entry.end_s = entry.start_s + 1 +
                static_cast<int64_t>(rng.Below(static_cast<uint64_t>(BillCase::kSeconds - entry.start_s)));
  entry.group = static_cast<uint32_t>(rng.Below(4));
  entry.job = static_cast<uint32_t>(rng.Below(4));
  entry.tier = static_cast<uint16_t>(rng.Below(tiers));
  entry.slo_missed = rng.Below(4) == 0;
  // Quantities range from a few units to many, and are often 0.
  const uint64_t scale = rng.Below(3) == 0 ? 10 : 10'000'000;
  for (UsageQuantities& q : entry.of) {
    for (uint64_t* value : {&q.usage, &q.request, &q.reservation})
      *value = rng.Below(5) == 0 ? 0 : rng.Below(scale);
    q.peak = rng.Below(scale / 10 + 1) / 100;
  }
  return entry;
}

// Returns a random case. The rule of each tier is drawn from `rules`, with repetition.
inline BillCase RandomBillCase(Rng& rng, std::span<const ChargeRule> rules) {
  BillCase c;
  const size_t tiers = 1 + rng.Below(4);
  for (size_t i = 0; i < tiers; ++i) {
    PriceTier tier;
    tier.name = StrCat("tier ", i);
    tier.rule = rules[rng.Below(rules.size())];
    tier.service_credit_ppm = static_cast<int64_t>(rng.Below(3) * 500'000);
    int64_t from_s = -static_cast<int64_t>(rng.Below(100));
    for (size_t k = 0; k <= rng.Below(3); ++k) {
      const auto rate = [&] {
        return Money{static_cast<int64_t>(rng.Below(rng.Below(2) == 0 ? 100'000 : 100'000'000))};
      };
      tier.prices.push_back({from_s, {rate(), rate()}});
      from_s += 1 + static_cast<int64_t>(rng.Below(BillCase::kSeconds / 2));
    }
    c.sheet.tiers.push_back(std::move(tier));
  }
  for (int64_t at = 0; at < BillCase::kSeconds;) {
    const auto left = static_cast<uint64_t>(BillCase::kSeconds - at);
    const int64_t end =
        rng.Below(3) == 0 ? BillCase::kSeconds : at + 1 + static_cast<int64_t>(rng.Below(left));
    CapacityWindow window{at, end, {rng.Below(50'000'000), rng.Below(50'000'000)}, {}, {}};
    if (rng.Below(4) > 0) window.machine_cost = Money{static_cast<int64_t>(rng.Below(200'000'000))};
    if (rng.Below(2) == 0) window.overhead = {static_cast<int64_t>(rng.Below(50'000'000))};
    c.windows.push_back(window);
    at = end;
  }
  for (uint64_t n = rng.Below(20); n > 0; --n) c.entries.push_back(RandomEntry(rng, tiers));
  c.options.cap_slack = rng.Below(2) == 0;
  c.options.cost_price = {0,
                          {Money{static_cast<int64_t>(rng.Below(50'000'000))},
                           Money{static_cast<int64_t>(rng.Below(5'000'000))}}};
  c.options.idle = static_cast<CostSharing>(rng.Below(3));
  c.options.overhead = static_cast<CostSharing>(rng.Below(3));
  return c;
}

inline void AppendText(std::string* out, const BillSums& sums) {
  StrAppend(out, " = ", sums.charges.micros, " - ", sums.credits.micros, " + ", sums.idle.micros, " + ",
            sums.overhead.micros, " = ", sums.total.micros, "\n");
}
inline void AppendText(std::string* out, std::span<const BillLine> lines) {
  for (const BillLine& line : lines)
    StrAppend(out, "  ", line.key.tier, " ", Name(line.key.resource), " ", Name(line.key.kind), " ",
              line.key.price, " ", line.key.slo_missed, ": ", line.quantity, " at ", line.rate.micros, " ",
              line.amount.micros, " ", line.credit.micros, "\n");
}
// Returns the groups and sums of a bill as text. BillText also includes the jobs.
inline std::string GroupsText(const Bill& bill) {
  std::string out;
  for (const GroupBill& group : bill.groups) {
    StrAppend(&out, "group ", group.group);
    AppendText(&out, group.sums);
    AppendText(&out, group.lines);
  }
  StrAppend(&out, bill.machine_cost.micros, " ", bill.overhead_cost.micros, " ", bill.idle_cost.micros, " ",
            bill.unrecovered_overhead.micros, " ", bill.platform.micros);
  AppendText(&out, bill.sums);
  return out;
}
inline std::string BillText(const Bill& bill) {
  std::string out = GroupsText(bill);
  for (const JobBill& job : bill.jobs) {
    StrAppend(&out, "job ", job.group, " ", job.job);
    AppendText(&out, job.sums);
    AppendText(&out, job.lines);
  }
  return out;
}

}  // namespace taut::brain
