#include "server/pool/bills.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::server {
namespace {

// Returns the sum of limits of one resource. In windows with an unknown limit, usage replaces the limit.
uint64_t ReservationOf(const AccountAmounts& a) {
  if (a.windows_without_allocation == 0) return a.allocation;
  if (a.windows_without_allocation >= a.windows) return a.usage;
  // An entry over several windows does not store the usage in the windows with an unknown limit. Estimate this
  // usage by the share of these windows.
  const auto share = static_cast<double>(a.windows_without_allocation) / a.windows;
  return a.allocation + static_cast<uint64_t>(static_cast<double>(a.usage) * share);
}

// Finds the job and the group for a job ID of the account. Reads the store once per job.
class BilledJobs {
 public:
  BilledJobs(History& history, const FleetView& view, const brain::Pricing& pricing,
             const std::function<bool(const JobRecord&)>& which, AccountBill& out)
      : history_(history), view_(view), pricing_(pricing), which_(which), out_(out) {}

  struct Place {
    uint32_t group = 0, job = 0;
    uint16_t tier = 0;
  };
  const Place& Of(JobId id) {
    const auto [it, is_new] = places_.try_emplace(id.value);
    if (!is_new) return it->second;
    JobRecord record;
    record.name = StrCat("job ", id.value);
    bool is_there = true;
    if (const JobView* known = view_.Find(id); known != nullptr) {
      record = *known->record;
    } else if (absl::StatusOr<JobRecord> gone = history_.Job(id); gone.ok()) {
      record = *std::move(gone);
    } else {
      is_there = false;
    }
    const bool counts = !which_ || (is_there && which_(record));
    Place& place = it->second;
    const auto [group, is_new_group] =
        groups_.try_emplace(GroupOf(record), static_cast<uint32_t>(out_.groups.size()));
    if (is_new_group) {
      out_.groups.push_back(group->first);
      out_.whole.push_back(true);
    }
    if (!counts) out_.whole[group->second] = false;
    place.group = group->second;
    place.tier = pricing_.TierOf(record.name);
    place.job = static_cast<uint32_t>(out_.jobs.size());
    out_.jobs.push_back(std::move(record.name));
    return place;
  }

 private:
  std::string GroupOf(const JobRecord& record) const {
    if (std::optional<std::string> group = pricing_.GroupByRule(record.name); group.has_value())
      return *std::move(group);
    for (const auto& [key, value] : record.labels) {
      if (key == "namespace") return value;
    }
    return pricing_.GroupOf(record.name);
  }

  History& history_;
  const FleetView& view_;
  const brain::Pricing& pricing_;
  const std::function<bool(const JobRecord&)>& which_;
  AccountBill& out_;
  absl::flat_hash_map<uint32_t, Place> places_;
  std::map<std::string, uint32_t> groups_;
};

// Returns the first stored window; `to` if there is none.
absl::StatusOr<WindowId> FirstKept(History& history, WindowId to) {
  const auto points = history.FleetPoints(WindowId{INT32_MIN / 2}, to, 1);
  if (!points.ok()) return points.status();
  return points->empty() ? to : points->front().window;
}

}  // namespace

absl::Status CheckAccountPrices(const brain::Pricing& pricing) {
  for (const brain::PriceTier& tier : pricing.sheet.tiers) {
    for (const brain::Price& price : tier.prices) {
      if (price.from_s <= 0 || LooksLikeUnixTime(price.from_s)) continue;
      return absl::FailedPreconditionError(
          StrCat("tier \"", tier.name, "\" has a price from ", FormatTime(price.from_s),
                 ": expected a date such as 2026-01-01; durations are of a trace's own clock"));
    }
    if (tier.rule == brain::ChargeRule::kPeak) {
      return absl::FailedPreconditionError(
          StrCat("tier \"", tier.name,
                 "\" is charged by peak, which the account of tautd does not keep: expected "
                 "another rule"));
    }
    if (tier.rule == brain::ChargeRule::kUsageSlackTax && !pricing.pool.has_value()) {
      return absl::FailedPreconditionError(
          StrCat("tier \"", tier.name, "\" has a slack tax, but there is no pool whose slack it is of"));
    }
  }
  return absl::OkStatus();
}

brain::UsageEntry EntryOf(const AccountEntry& entry, const AccountSpan& span, brain::ChargeRule rule) {
  brain::UsageEntry out;
  out.start_s = span.first.start_s();
  out.end_s = out.start_s + int64_t{span.windows} * kWindowSeconds;
  for (const Resource r : kResources) {
    const AccountAmounts& a = entry.amounts(r);
    brain::UsageQuantities& q = out.of[static_cast<size_t>(r)];
    q.usage = a.usage;
    q.reservation = ReservationOf(a);
    q.request = rule == brain::ChargeRule::kMaxRequestUsage ? a.billed : q.reservation;
  }
  return out;
}

absl::StatusOr<AccountBill> BillAccount(History& history, const FleetView& view,
                                        const brain::Pricing& pricing, WindowId from, WindowId to,
                                        const std::function<bool(const JobRecord&)>& which) {
  if (absl::Status s = CheckAccountPrices(pricing); !s.ok()) return s;
  const absl::StatusOr<WindowId> kept = FirstKept(history, to);
  if (!kept.ok()) return kept.status();
  AccountBill out;
  out.from = from;
  out.to = to;
  std::vector<brain::CapacityWindow> pool;
  brain::BillOptions options;
  out.counted_from = std::max(from, *kept);
  if (pricing.pool.has_value() && out.counted_from < to) {
    pool.push_back(brain::CapacityOf(*pricing.pool, out.counted_from.start_s(), to.start_s()));
    // An entry of a whole day may start before the first measured window. The pool must therefore start on the day
    // of this window.
    pool.back().start_s = std::max(from.start_s(), int64_t{out.counted_from.day()} * kDaySeconds);
    options.idle = pricing.pool->idle;
    options.cost_price = pricing.pool->cost;
  }
  absl::StatusOr<brain::Metering> metering = brain::Metering::Make(pricing.sheet, pool);
  if (!metering.ok()) return metering.status();
  BilledJobs jobs(history, view, pricing, which, out);
  absl::Status added;
  const absl::Status read =
      history.ReadAccount(from, to, [&](const AccountSpan& span, std::span<const AccountEntry> entries) {
        for (const AccountEntry& e : entries) {
          if (!added.ok()) return;
          const BilledJobs::Place& place = jobs.Of(e.job);
          brain::UsageEntry entry = EntryOf(e, span, pricing.sheet.tiers[place.tier].rule);
          // A late entry of today covers the whole day, so shorten it.
          entry.end_s = std::min(entry.end_s, to.start_s());
          entry.group = place.group;
          entry.job = place.job;
          entry.tier = place.tier;
          added = metering->Add(entry);
          for (const AccountAmounts& a : e.of) out.without_allocation += a.windows_without_allocation;
        }
      });
  if (!read.ok()) return read;
  if (!added.ok()) return added;
  absl::StatusOr<brain::Bill> bill = brain::MakeBill(pricing.sheet, pool, *std::move(metering), options);
  if (!bill.ok()) return bill.status();
  out.bill = *std::move(bill);
  return out;
}

}  // namespace taut::server
