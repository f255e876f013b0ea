#include "economy/bill.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/strings.h"

namespace taut {
namespace {

constexpr std::array<std::pair<IdleSharing, std::string_view>, 3> kSharings = {{
    {IdleSharing::kPlatform, "platform"},
    {IdleSharing::kProportion, "proportion"},
    {IdleSharing::kUniform, "uniform"},
}};

constexpr WideInt kSecondsPerHour = 3600;
constexpr WideInt kMillicoresPerCore = 1000, kKibibytesPerGibibyte = 1 << 20;

}  // namespace

std::string_view Name(IdleSharing sharing) {
  for (const auto& [value, name] : kSharings) {
    if (value == sharing) return name;
  }
  return "?";
}

absl::StatusOr<IdleSharing> ParseIdleSharing(std::string_view name) {
  for (const auto& [value, known] : kSharings) {
    if (known == name) return value;
  }
  return absl::InvalidArgumentError(StrCat(
      "\"", name, "\" is not a way to share idle cost; expected one of platform, proportion, uniform"));
}

absl::StatusOr<Money> AmountOf(Resource r, const Rates& rates, Quantity quantity) {
  const bool is_cpu = r == Resource::kCpu;
  const Money rate = is_cpu ? rates.core_hour : rates.gib_hour;
  const WideInt unit = kSecondsPerHour * (is_cpu ? kMillicoresPerCore : kKibibytesPerGibibyte);
  return ToMoney(DivideRounded(WideInt{rate.micros} * quantity, unit));
}

absl::Status Biller::Add(const UseEntry& entry) {
  const auto bad = [&entry](std::string_view what) {
    return absl::InvalidArgumentError(
        StrCat("job ", entry.job, ", from ", entry.start_s, " s to ", entry.end_s, " s: ", what));
  };
  if (entry.end_s <= entry.start_s) return bad("it does not end after its start");
  if (entry.tier >= sheet_->tiers().size()) return bad("its tier is not in the price sheet");
  const int64_t start_s = std::max(entry.start_s, options_.start_s),
                end_s = std::min(entry.end_s, options_.end_s);
  if (start_s >= end_s) return absl::OkStatus();  // outside of the period
  int price = sheet_->PriceAt(entry.tier, start_s);
  const Tier& tier = sheet_->tiers()[entry.tier];
  if (price < 0) {
    return bad(StrCat("tier ", tier.name, " has no price before ", tier.prices.front().from_s, " s"));
  }
  for (int64_t at = start_s; at < end_s; ++price) {
    const size_t next = static_cast<size_t>(price) + 1;
    const int64_t until = next < tier.prices.size() ? std::min(end_s, tier.prices[next].from_s) : end_s;
    AddPart(entry, at, until, static_cast<uint32_t>(price));
    at = until;
  }
  return absl::OkStatus();
}

Biller::Slot& Biller::SlotOf(uint32_t job, uint32_t tier, uint32_t price) {
  if (job >= jobs_.size()) jobs_.resize(size_t{job} + 1);
  std::vector<Slot>& slots = jobs_[job];
  const auto at = std::ranges::lower_bound(slots, std::pair(tier, price), {},
                                           [](const Slot& s) { return std::pair(s.tier, s.price); });
  if (at != slots.end() && at->tier == tier && at->price == price) return *at;
  return *slots.insert(at, Slot{tier, price, {}});
}

void Biller::AddPart(const UseEntry& entry, int64_t start_s, int64_t end_s, uint32_t price) {
  // Rounded down, so that more use never costs less.
  const auto part = [all = entry.end_s - entry.start_s, some = end_s - start_s](Quantity quantity) {
    return static_cast<Quantity>(WideInt{quantity} * some / all);
  };
  Slot& slot = SlotOf(entry.job, entry.tier, price);
  for (const Resource r : kResources) {
    const ResourceUse& use = entry.of(r);
    Sum& sum = slot.sums[static_cast<size_t>(r)];
    sum.usage += part(use.usage);
    sum.request += part(use.request);
    sum.reservation += part(use.reservation);
    sum.max_request_usage += part(std::max(use.request, use.usage));
    sum.peak = std::max(sum.peak, use.peak);
    sum.seconds += static_cast<uint64_t>(end_s - start_s);
  }
}

std::vector<Quantity> Biller::SlackOf(Resource r) const {
  const auto index = static_cast<size_t>(r);
  std::vector<WideInt> reserved;
  WideInt used = 0, all_reserved = 0;
  for (const std::vector<Slot>& slots : jobs_) {
    for (const Slot& slot : slots) {
      const bool taxed = sheet_->tiers()[slot.tier].rule == ChargeRule::kUsageSlackTax;
      reserved.push_back(taxed ? WideInt{slot.sums[index].reservation} : WideInt{0});
      all_reserved += slot.sums[index].reservation;
      used += slot.sums[index].usage;
    }
  }
  std::vector<Quantity> out(reserved.size(), 0);
  if (!options_.capacity[index].has_value() || all_reserved == 0) return out;
  WideInt slack = WideInt{*options_.capacity[index]} - used;
  if (options_.cap_slack) slack = std::min(slack, all_reserved - used);
  if (slack <= 0) return out;
  // Each by its part of all reservations, rounded down: tiers that are not taxed leave theirs to the platform.
  for (size_t i = 0; i < out.size(); ++i) {
    const WideInt whole = slack / all_reserved, rest = slack % all_reserved;
    out[i] = static_cast<Quantity>(whole * reserved[i] + rest * reserved[i] / all_reserved);
  }
  return out;
}

Quantity Biller::Charged(const Slot& slot, Resource r, Quantity slack) const {
  const Sum& sum = slot.sums[static_cast<size_t>(r)];
  switch (sheet_->tiers()[slot.tier].rule) {
    case ChargeRule::kReservation:
      return sum.reservation;
    case ChargeRule::kUsage:
      return sum.usage;
    case ChargeRule::kUsageSlackTax:
      return sum.usage + slack;
    case ChargeRule::kMaxRequestUsage:
      return sum.max_request_usage;
    case ChargeRule::kPeak:
      return sum.peak * sum.seconds;
  }
  return 0;
}

absl::Status Biller::ShareIdle(PoolBill& bill) const {
  if (!options_.cost.has_value()) return absl::OkStatus();
  const Money idle = {std::max<int64_t>(0, options_.cost->micros - bill.charged.micros)};
  if (options_.idle != IdleSharing::kPlatform && idle.micros > 0) {
    // Jobs without entries were not there: they share nothing.
    std::vector<WideInt> weights;
    std::vector<size_t> jobs;
    for (size_t job = 0; job < jobs_.size(); ++job) {
      if (jobs_[job].empty()) continue;
      jobs.push_back(job);
      weights.push_back(options_.idle == IdleSharing::kUniform ? 1 : WideInt{bill.jobs[job].charged.micros});
    }
    const std::vector<Money> shares = SplitInProportion(idle, weights);
    for (size_t i = 0; i < jobs.size(); ++i) bill.jobs[jobs[i]].idle = shares[i];
    if (!jobs.empty()) bill.idle_shared = idle;
  }
  const absl::StatusOr<Money> platform =
      ToMoney(WideInt{options_.cost->micros} - bill.charged.micros - bill.idle_shared.micros);
  if (!platform.ok()) return platform.status();
  bill.platform = *platform;
  return absl::OkStatus();
}

absl::StatusOr<PoolBill> Biller::Close(size_t num_jobs) const {
  PoolBill bill;
  bill.jobs.resize(std::max(num_jobs, jobs_.size()));
  const std::array<std::vector<Quantity>, 2> slack = {SlackOf(Resource::kCpu), SlackOf(Resource::kMemory)};
  WideInt charged = 0;
  size_t slot_index = 0;
  for (size_t job = 0; job < jobs_.size(); ++job) {
    WideInt of_job = 0;
    for (const Slot& slot : jobs_[job]) {
      for (const Resource r : kResources) {
        BillLine line;
        line.tier = slot.tier;
        line.price = slot.price;
        line.resource = r;
        line.slack = slack[static_cast<size_t>(r)][slot_index];
        line.quantity = Charged(slot, r, line.slack);
        const absl::StatusOr<Money> amount =
            AmountOf(r, sheet_->tiers()[slot.tier].prices[slot.price].rates, line.quantity);
        if (!amount.ok()) return amount.status();
        line.amount = *amount;
        of_job += amount->micros;
        if (line.quantity > 0) bill.jobs[job].lines.push_back(line);
      }
      ++slot_index;
    }
    charged += of_job;
    const absl::StatusOr<Money> sum = ToMoney(of_job);
    if (!sum.ok()) return sum.status();
    bill.jobs[job].charged = *sum;
  }
  const absl::StatusOr<Money> all = ToMoney(charged);
  if (!all.ok()) return all.status();
  bill.charged = *all;
  if (absl::Status s = ShareIdle(bill); !s.ok()) return s;
  for (JobBill& job : bill.jobs) {
    const absl::StatusOr<Money> total = ToMoney(WideInt{job.charged.micros} + job.idle.micros);
    if (!total.ok()) return total.status();
    job.total = *total;
  }
  const absl::StatusOr<Money> total = ToMoney(WideInt{bill.charged.micros} + bill.idle_shared.micros);
  if (!total.ok()) return total.status();
  bill.total = *total;
  return bill;
}

}  // namespace taut
