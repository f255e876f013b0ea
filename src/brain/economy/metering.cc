#include "brain/economy/metering.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::brain {
namespace {

__extension__ using Wide = unsigned __int128;

size_t At(Resource r) { return static_cast<size_t>(r); }

absl::Status TooMuch(std::string_view what) {
  return absl::OutOfRangeError(StrCat("bill: ", what, " does not fit into 64 bits"));
}

absl::Status Increase(uint64_t* sum, uint64_t by, std::string_view what) {
  return __builtin_add_overflow(*sum, by, sum) ? TooMuch(what) : absl::OkStatus();
}

// Returns quantity * ppm / 1'000'000, rounded to the nearest unit, halves up.
absl::StatusOr<uint64_t> Scaled(uint64_t quantity, int64_t ppm) {
  if (ppm == kWholePpm) return quantity;
  const Wide scaled = (static_cast<Wide>(quantity) * static_cast<uint64_t>(ppm) + kWholePpm / 2) / kWholePpm;
  if (scaled > UINT64_MAX) return TooMuch("a scaled quantity");
  return static_cast<uint64_t>(scaled);
}

// Returns the quantity that the tier's rule charges for one resource of an entry, without the slack tax.
absl::StatusOr<uint64_t> ChargedOf(const UsageQuantities& q, ChargeRule rule, int64_t seconds) {
  switch (rule) {
    case ChargeRule::kReservation:
      return q.reservation;
    case ChargeRule::kUsage:
    case ChargeRule::kUsageSlackTax:
      return q.usage;
    case ChargeRule::kMaxRequestUsage:
      return std::max(q.request, q.usage);
    case ChargeRule::kPeak: {
      uint64_t quantity = 0;
      if (__builtin_mul_overflow(q.peak, static_cast<uint64_t>(seconds), &quantity))
        return TooMuch(StrCat("a peak of ", q.peak, " for ", seconds, " s"));
      return quantity;
    }
  }
  return absl::InvalidArgumentError(StrCat("bill: unknown charge rule ", static_cast<int>(rule)));
}

absl::StatusOr<UsageQuantities> ScaledOf(const UsageQuantities& q, const UsageScale& scale) {
  UsageQuantities out = q;
  const absl::StatusOr<uint64_t> request = Scaled(q.request, scale.request_ppm);
  if (!request.ok()) return request.status();
  const absl::StatusOr<uint64_t> reservation = Scaled(q.reservation, scale.reservation_ppm);
  if (!reservation.ok()) return reservation.status();
  out.request = *request;
  out.reservation = scale.reserve_request && q.reservation == 0 ? *request : *reservation;
  return out;
}

absl::Status CheckTimes(std::string_view what, int64_t start_s, int64_t end_s) {
  if (start_s < end_s && start_s >= -kMaxBillSeconds && end_s <= kMaxBillSeconds) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("bill: ", what, " has the window [", start_s, ", ", end_s,
                                           "); expected start < end, at most ", kMaxBillSeconds,
                                           " s from the epoch"));
}

absl::Status CheckWindows(std::span<const CapacityWindow> windows) {
  for (size_t i = 0; i < windows.size(); ++i) {
    const CapacityWindow& w = windows[i];
    absl::Status status = CheckTimes("the capacity", w.start_s, w.end_s);
    if (!status.ok()) return status;
    if (i > 0 && w.start_s < windows[i - 1].end_s)
      return absl::InvalidArgumentError(
          StrCat("bill: the capacity from second ", w.start_s, " begins before the window before it ends at ",
                 windows[i - 1].end_s, "; expected in order of time and without overlap"));
  }
  return absl::OkStatus();
}

}  // namespace

uint64_t SlackOfResource::Slack() const {
  const Wide used = static_cast<Wide>(charged) + usage;
  return used >= capacity ? 0 : static_cast<uint64_t>(capacity - used);
}

uint64_t SlackOfResource::Taxed(bool cap) const {
  if (request == 0) return 0;
  if (!cap) return Slack();
  return request <= usage ? 0 : std::min(Slack(), request - usage);
}

std::string_view Name(LineKind kind) { return kind == LineKind::kCharge ? "charge" : "slack tax"; }

BillingTimeline::BillingTimeline(const PriceSheet& sheet, std::span<const CapacityWindow> windows) {
  std::vector<int64_t> cuts = {-kMaxBillSeconds, kMaxBillSeconds};
  for (const CapacityWindow& w : windows) {
    cuts.push_back(w.start_s);
    cuts.push_back(w.end_s);
  }
  for (const PriceTier& tier : sheet.tiers) {
    for (const Price& price : tier.prices)
      cuts.push_back(std::clamp(price.from_s, -kMaxBillSeconds, kMaxBillSeconds));
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  size_t window = 0;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    Segment segment{cuts[i], cuts[i + 1], kNone, {}};
    while (window < windows.size() && windows[window].end_s <= segment.start_s) ++window;
    if (window < windows.size() && windows[window].start_s <= segment.start_s)
      segment.window = static_cast<int32_t>(window);
    for (const PriceTier& tier : sheet.tiers) {
      const std::optional<uint32_t> price = tier.PriceAt(segment.start_s);
      segment.prices.push_back(price.has_value() ? static_cast<int32_t>(*price) : kNone);
    }
    segments_.push_back(std::move(segment));
  }
}

size_t BillingTimeline::SegmentAt(int64_t time_s) const {
  const auto after = std::upper_bound(segments_.begin(), segments_.end(), time_s,
                                      [](int64_t t, const Segment& s) { return t < s.start_s; });
  return static_cast<size_t>(after - segments_.begin()) - 1;
}

absl::StatusOr<Metering> Metering::Make(const PriceSheet& sheet, std::span<const CapacityWindow> windows) {
  if (absl::Status status = sheet.Check(); !status.ok()) return status;
  if (absl::Status status = CheckWindows(windows); !status.ok()) return status;
  return Metering(sheet, windows);
}

Metering::Metering(const PriceSheet& sheet, std::span<const CapacityWindow> windows)
    : sheet_(&sheet), timeline_(sheet, windows) {
  const auto segments = timeline_.segments();
  slack_of_segment_.assign(segments.size(), BillingTimeline::kNone);
  for (size_t i = 0; i < segments.size();) {
    const int32_t window = segments[i].window;
    size_t end = i + 1;
    while (end < segments.size() && window >= 0 && segments[end].window == window) ++end;
    if (window >= 0) {
      std::vector<uint64_t> seconds;
      for (size_t k = i; k < end; ++k)
        seconds.push_back(static_cast<uint64_t>(segments[k].end_s - segments[k].start_s));
      const size_t first = slack_.size();
      for (size_t k = i; k < end; ++k) {
        slack_of_segment_[k] = static_cast<int32_t>(slack_.size());
        slack_.push_back({segments[k].start_s, segments[k].end_s, {}});
      }
      for (const Resource r : kResources) {
        const auto parts = SplitUnits(windows[static_cast<size_t>(window)].capacity[At(r)], seconds);
        for (size_t k = 0; k < parts.size(); ++k) slack_[first + k].of[At(r)].capacity = parts[k];
      }
    }
    i = end;
  }
}

uint32_t Metering::JobOf(const UsageEntry& entry) {
  const uint64_t key = uint64_t{entry.group} << 32 | entry.job;
  const auto [at, added] = job_of_.try_emplace(key, static_cast<uint32_t>(jobs_.size()));
  if (added) jobs_.push_back({entry.group, entry.job, {}});
  return at->second;
}

absl::Status Metering::AddLine(uint32_t job, const LineKey& key, uint64_t quantity) {
  if (quantity == 0) return absl::OkStatus();
  // The search begins at the end: entries mostly arrive in order of time, so that a job's last line usually
  // matches.
  std::vector<MeteredLine>& lines = jobs_[job].lines;
  for (size_t i = lines.size(); i-- > 0;) {
    if (lines[i].key == key) return Increase(&lines[i].quantity, quantity, "the quantity of a job");
  }
  lines.push_back({key, quantity});
  return absl::OkStatus();
}

absl::Status Metering::Add(const UsageEntry& entry, const UsageScale& scale) {
  absl::Status status = CheckTimes("an entry", entry.start_s, entry.end_s);
  if (!status.ok()) return status;
  if (entry.tier >= sheet_->tiers.size())
    return absl::InvalidArgumentError(
        StrCat("bill: an entry has tier ", entry.tier, "; the price sheet has ", sheet_->tiers.size()));
  const ChargeRule rule = sheet_->tiers[entry.tier].rule;
  PerResource<uint64_t> charged, request;
  for (const Resource r : kResources) {
    const absl::StatusOr<UsageQuantities> q = ScaledOf(entry.of[At(r)], scale);
    if (!q.ok()) return q.status();
    absl::StatusOr<uint64_t> quantity = ChargedOf(*q, rule, entry.end_s - entry.start_s);
    if (quantity.ok()) quantity = Scaled(*quantity, scale.run_time_ppm);
    if (!quantity.ok()) return quantity.status();
    const absl::StatusOr<uint64_t> asked = Scaled(q->request, scale.run_time_ppm);
    if (!asked.ok()) return asked.status();
    charged[At(r)] = *quantity;
    request[At(r)] = *asked;
  }
  const uint32_t job = JobOf(entry);
  const auto segments = timeline_.segments();
  const size_t first = timeline_.SegmentAt(entry.start_s);
  if (entry.end_s <= segments[first].end_s) return AddTo(first, entry, job, charged, request);

  std::vector<uint64_t> seconds;
  for (size_t k = first; k < segments.size() && segments[k].start_s < entry.end_s; ++k)
    seconds.push_back(static_cast<uint64_t>(std::min(segments[k].end_s, entry.end_s) -
                                            std::max(segments[k].start_s, entry.start_s)));
  PerResource<std::vector<uint64_t>> charged_parts, request_parts;
  for (const Resource r : kResources) {
    charged_parts[At(r)] = SplitUnits(charged[At(r)], seconds);
    request_parts[At(r)] = SplitUnits(request[At(r)], seconds);
  }
  for (size_t k = 0; k < seconds.size() && status.ok(); ++k)
    status = AddTo(first + k, entry, job, {charged_parts[0][k], charged_parts[1][k]},
                   {request_parts[0][k], request_parts[1][k]});
  return status;
}

absl::Status Metering::AddTo(size_t segment, const UsageEntry& entry, uint32_t job,
                             const PerResource<uint64_t>& charged, const PerResource<uint64_t>& request) {
  const BillingTimeline::Segment& s = timeline_.segments()[segment];
  const PriceTier& tier = sheet_->tiers[entry.tier];
  if (s.prices[entry.tier] < 0)
    return absl::FailedPreconditionError(
        StrCat("bill: tier \"", tier.name, "\" was used at ", FormatTime(std::max(s.start_s, entry.start_s)),
               ", before its first price, which is valid from ", FormatTime(tier.prices.front().from_s),
               ": expected a price without \"from\", or from that time or earlier"));
  const bool taxed = tier.rule == ChargeRule::kUsageSlackTax;
  const int32_t slack = slack_of_segment_[segment];
  if (taxed && slack < 0)
    return absl::InvalidArgumentError(StrCat("bill: tier \"", tier.name, "\" has a slack tax, and at ",
                                             FormatTime(std::max(s.start_s, entry.start_s)),
                                             " no capacity is given"));
  LineKey key{entry.tier, Resource::kCpu, LineKind::kCharge, static_cast<uint32_t>(s.prices[entry.tier]),
              entry.slo_missed};
  absl::Status status;
  for (const Resource r : kResources) {
    key.resource = r;
    status.Update(AddLine(job, key, charged[At(r)]));
    if (slack < 0) continue;
    SlackOfResource& of = slack_[static_cast<size_t>(slack)].of[At(r)];
    status.Update(Increase(taxed ? &of.usage : &of.charged, charged[At(r)], "the usage of the pool"));
    if (taxed) status.Update(Increase(&of.request, request[At(r)], "the request of the pool"));
  }
  if (taxed && (request[0] > 0 || request[1] > 0)) {
    key.resource = Resource::kCpu;
    key.kind = LineKind::kSlackTax;
    items_.push_back({static_cast<uint32_t>(slack), job, key, request});
  }
  return status;
}

void Metering::SortJobs() {
  std::vector<uint32_t> order(jobs_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
    return std::pair(jobs_[a].group, jobs_[a].job) < std::pair(jobs_[b].group, jobs_[b].job);
  });
  std::vector<uint32_t> place(jobs_.size());
  std::vector<MeteredJob> sorted;
  sorted.reserve(jobs_.size());
  for (const uint32_t job : order) {
    place[job] = static_cast<uint32_t>(sorted.size());
    sorted.push_back(std::move(jobs_[job]));
  }
  jobs_ = std::move(sorted);
  job_of_.clear();
  for (TaxItem& item : items_) item.job = place[item.job];
}

// Shares the taxed slack of one segment. `items` are sorted by group, key and job.
absl::Status Metering::ShareSlack(std::span<const TaxItem> items, Resource r, uint64_t taxed,
                                  uint64_t others_request) {
  if (taxed == 0) return absl::OkStatus();
  const auto together = [this](const TaxItem& a, const TaxItem& b) {
    return jobs_[a.job].group == jobs_[b.job].group && a.key == b.key;
  };
  // `others_request` is an additional participant, so that jobs that were not added bear their part.
  std::vector<uint64_t> requests = {others_request};
  std::vector<size_t> ends;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i == 0 || !together(items[i - 1], items[i])) requests.push_back(0);
    // This sum cannot overflow, because the sum over the pool fits.
    requests.back() += items[i].request[At(r)];
    if (i + 1 == items.size() || !together(items[i], items[i + 1])) ends.push_back(i + 1);
  }
  const std::vector<uint64_t> parts = SplitUnits(taxed, requests);
  size_t begin = 0;
  std::vector<uint64_t> of_jobs;
  for (size_t k = 0; k < ends.size(); ++k) {
    of_jobs.clear();
    for (size_t i = begin; i < ends[k]; ++i) {
      const bool same = i > begin && items[i].job == items[i - 1].job;
      if (!same) of_jobs.push_back(0);
      of_jobs.back() += items[i].request[At(r)];
    }
    const std::vector<uint64_t> shares = SplitUnits(parts[k + 1], of_jobs);
    size_t share = 0;
    for (size_t i = begin; i < ends[k]; ++i) {
      if (i > begin && items[i].job == items[i - 1].job) continue;
      LineKey key = items[i].key;
      key.resource = r;
      const absl::Status status = AddLine(items[i].job, key, shares[share++]);
      if (!status.ok()) return status;
    }
    begin = ends[k];
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<MeteredJob>> Metering::Finish(bool cap_slack,
                                                         std::span<const SlackWindow> others) {
  if (!others.empty() && others.size() != slack_.size())
    return absl::InvalidArgumentError(StrCat("bill: the charges of other jobs are of ", others.size(),
                                             " windows; expected ", slack_.size()));
  SortJobs();
  std::sort(items_.begin(), items_.end(), [this](const TaxItem& a, const TaxItem& b) {
    if (a.slack != b.slack) return a.slack < b.slack;
    const uint32_t group_a = jobs_[a.job].group, group_b = jobs_[b.job].group;
    if (group_a != group_b) return group_a < group_b;
    if (a.key != b.key) return a.key < b.key;
    return a.job < b.job;
  });
  for (size_t begin = 0; begin < items_.size();) {
    size_t end = begin + 1;
    while (end < items_.size() && items_[end].slack == items_[begin].slack) ++end;
    for (const Resource r : kResources) {
      SlackOfResource of = slack_[items_[begin].slack].of[At(r)];
      uint64_t others_request = 0;
      absl::Status status;
      if (!others.empty()) {
        const SlackOfResource& other = others[items_[begin].slack].of[At(r)];
        others_request = other.request;
        status.Update(Increase(&of.charged, other.charged, "the usage of the pool"));
        status.Update(Increase(&of.usage, other.usage, "the usage of the pool"));
        status.Update(Increase(&of.request, other.request, "the request of the pool"));
      }
      if (status.ok())
        status =
            ShareSlack(std::span(items_).subspan(begin, end - begin), r, of.Taxed(cap_slack), others_request);
      if (!status.ok()) return status;
    }
    begin = end;
  }
  items_.clear();
  return std::move(jobs_);
}

}  // namespace taut::brain
