#include "brain/economy/what_if.h"

#include <utility>
#include <vector>

#include "common/base/strings.h"

namespace taut::brain {
namespace {

constexpr int64_t kMostScalePpm = 1000 * kWholePpm;

absl::Status CheckScale(const UsageScale& scale) {
  const auto check = [](std::string_view what, int64_t ppm, int64_t most) {
    if (ppm >= 0 && ppm <= most) return absl::OkStatus();
    return absl::InvalidArgumentError(
        StrCat("what-if: the factor of the ", what, " is ", ppm, " ppm; allowed are 0 to ", most));
  };
  absl::Status status = check("request", scale.request_ppm, kMostScalePpm);
  status.Update(check("reservation", scale.reservation_ppm, kMostScalePpm));
  status.Update(check("run time", scale.run_time_ppm, kWholePpm));
  return status;
}

absl::Status CheckOneJob(std::span<const UsageEntry> entries) {
  if (entries.empty()) return absl::InvalidArgumentError("what-if: the job has no entry");
  for (const UsageEntry& entry : entries) {
    if (entry.group != entries.front().group || entry.job != entries.front().job)
      return absl::InvalidArgumentError(StrCat("what-if: entries of job ", entries.front().job, " of group ",
                                               entries.front().group, " and of job ", entry.job, " of group ",
                                               entry.group, "; expected those of one job"));
  }
  return absl::OkStatus();
}

// Returns the bill's slack windows `all` minus the job's own quantities `own`.
absl::StatusOr<std::vector<SlackWindow>> Others(std::span<const SlackWindow> all,
                                                std::span<const SlackWindow> own) {
  if (all.size() != own.size())
    return absl::InvalidArgumentError(StrCat("what-if: the bill has ", all.size(),
                                             " slack windows, its sheet and capacity make ", own.size()));
  std::vector<SlackWindow> others(all.begin(), all.end());
  for (size_t i = 0; i < own.size(); ++i) {
    for (size_t r = 0; r < kResources.size(); ++r) {
      SlackOfResource& other = others[i].of[r];
      const SlackOfResource& mine = own[i].of[r];
      if (mine.charged > other.charged || mine.usage > other.usage || mine.request > other.request)
        return absl::InvalidArgumentError(StrCat(
            "what-if: the entries have more than all jobs of the bill from second ", all[i].start_s, " on"));
      other.charged -= mine.charged;
      other.usage -= mine.usage;
      other.request -= mine.request;
    }
  }
  return others;
}

absl::StatusOr<JobBill> Charges(const PriceSheet& sheet, Metering metering, bool cap_slack,
                                std::span<const SlackWindow> others) {
  absl::StatusOr<std::vector<MeteredJob>> jobs = metering.Finish(cap_slack, others);
  if (!jobs.ok()) return jobs.status();
  absl::StatusOr<Bill> bill = PriceJobs(sheet, *std::move(jobs));
  if (!bill.ok()) return bill.status();
  return std::move(bill->jobs.front());
}

}  // namespace

absl::StatusOr<ChangedCharges> WhatIf(const PriceSheet& sheet, std::span<const CapacityWindow> windows,
                                      const BillOptions& options, const Bill& bill,
                                      std::span<const UsageEntry> entries, const ChargeChange& change) {
  absl::Status status = CheckScale(change.scale);
  if (status.ok()) status = CheckOneJob(entries);
  if (!status.ok()) return status;
  absl::StatusOr<Metering> before = Metering::Make(sheet, windows);
  if (!before.ok()) return before.status();
  Metering after = *before;
  UsageScale scale = change.scale;
  scale.reserve_request = change.tier.has_value();
  for (const UsageEntry& entry : entries) {
    UsageEntry changed = entry;
    if (change.tier.has_value()) changed.tier = *change.tier;
    status = before->Add(entry);
    if (status.ok()) status = after.Add(changed, scale);
    if (!status.ok()) return status;
  }
  const absl::StatusOr<std::vector<SlackWindow>> others = Others(bill.slack, before->slack());
  if (!others.ok()) return others.status();
  absl::StatusOr<JobBill> was = Charges(sheet, *std::move(before), options.cap_slack, *others);
  if (!was.ok()) return was.status();
  absl::StatusOr<JobBill> is = Charges(sheet, std::move(after), options.cap_slack, *others);
  if (!is.ok()) return is.status();
  ChangedCharges out;
  // the difference cannot overflow, because both totals are >= 0
  out.difference = {is->sums.total.micros - was->sums.total.micros};
  out.before = *std::move(was);
  out.after = *std::move(is);
  return out;
}

}  // namespace taut::brain
