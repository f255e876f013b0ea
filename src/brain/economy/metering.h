// From usage entries to the quantities that are charged: by job, tier, resource and price.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/economy/price_sheet.h"

namespace taut::brain {

// Times of a bill are seconds of the Unix epoch, at most this far from it.
inline constexpr int64_t kMaxBillSeconds = int64_t{1} << 40;

// Of one resource: millicore-seconds or mebibyte-seconds; the peak in millicores or mebibytes.
struct UsageQuantities {
  uint64_t usage = 0;
  uint64_t request = 0;      // allocation: what the tasks asked for
  uint64_t reservation = 0;  // what was bought
  uint64_t peak = 0;         // highest usage of the window
};

// A job in [start_s, end_s). A job may have many entries, also of the same time (its quantities add up). What
// a job is charged for by its larger of two or by its peak is so of each entry: longer windows charge
// differently.
struct UsageEntry {
  int64_t start_s = 0, end_s = 0;
  uint32_t group = 0, job = 0;      // the caller's ids; a job is one of its group
  uint16_t tier = 0;                // index in the price sheet
  bool slo_missed = false;          // its SLO was not kept in this window
  PerResource<UsageQuantities> of;  // by Resource
};

// What the pool has in [start_s, end_s), and what it costs the platform.
struct CapacityWindow {
  int64_t start_s = 0, end_s = 0;
  PerResource<uint64_t> capacity = {};  // by Resource, in quantities
  std::optional<Money> machine_cost;    // absent: capacity at the cost price
  Money overhead;                       // shared cost beside the machines: control plane, licences, people
};

// The slack of one resource in a part of a capacity window in which no price changes (papers, chargeback
// rules): capacity - what is charged under other rules - usage under the slack tax, and not below 0.
struct SlackOfResource {
  uint64_t capacity = 0;
  uint64_t charged = 0;    // under other rules
  uint64_t usage = 0;      // of those under the slack tax
  uint64_t request = 0;    // of those under the slack tax
  uint64_t Slack() const;  // 0 if more was charged and used than there is
  // What is charged to those under the tax: the slack, with a cap at most max(0, request - usage); 0 if there
  // is no request. The rest is left to the platform.
  uint64_t Taxed(bool cap) const;
};
struct SlackWindow {
  int64_t start_s = 0, end_s = 0;
  PerResource<SlackOfResource> of;  // by Resource
};

enum class LineKind : uint8_t { kCharge, kSlackTax };
std::string_view Name(LineKind kind);  // "charge", "slack tax"

// What is charged together. Ordered as a bill shows it.
struct LineKey {
  uint16_t tier = 0;
  Resource resource = Resource::kCpu;
  LineKind kind = LineKind::kCharge;
  uint32_t price = 0;  // index in the tier
  bool slo_missed = false;
  auto operator<=>(const LineKey&) const = default;
};
struct MeteredLine {
  LineKey key;
  uint64_t quantity = 0;
};
struct MeteredJob {
  uint32_t group = 0, job = 0;
  std::vector<MeteredLine> lines;  // one of each key, in no order
};

// Factors on an entry, in parts per million (what-if).
struct UsageScale {
  int64_t request_ppm = kWholePpm, reservation_ppm = kWholePpm;
  int64_t run_time_ppm = kWholePpm;  // of all quantities
  bool reserve_request = false;      // no reservation means one of the (scaled) request
};

// Time cut where a capacity window begins or ends and where a price of any tier changes.
class BillingTimeline {
 public:
  static constexpr int32_t kNone = -1;
  struct Segment {
    int64_t start_s, end_s;
    int32_t window = kNone;       // of the capacity windows
    std::vector<int32_t> prices;  // by tier
  };
  BillingTimeline(const PriceSheet& sheet, std::span<const CapacityWindow> windows);
  // All of [-kMaxBillSeconds, kMaxBillSeconds), ascending.
  std::span<const Segment> segments() const { return segments_; }
  size_t SegmentAt(int64_t time_s) const;

 private:
  std::vector<Segment> segments_;
};

// Adds up entries, in any order, to the same. An entry that lies across segments is split among them in
// proportion of time, each quantity to the whole unit by largest remainder.
class Metering {
 public:
  // The sheet must outlive this. InvalidArgument if PriceSheet::Check finds something, or if a capacity
  // window is empty or not after the one before.
  static absl::StatusOr<Metering> Make(const PriceSheet& sheet, std::span<const CapacityWindow> windows);

  // InvalidArgument for an empty window, an unknown tier, a time without a price, or the slack tax outside
  // the capacity windows; OutOfRange if a quantity does not fit into 64 bits. Not to be used after an error.
  // O(lines of the job + segments of the entry).
  absl::Status Add(const UsageEntry& entry, const UsageScale& scale = {});

  // To be called once, last: shares the taxed slack of each segment by request, to the whole unit by largest
  // remainder: first by group, tier and SLO kept or not, then by job. `others`: what is charged besides to
  // jobs that are not here, one for each of slack(); empty: nothing. Returns the jobs by group and job. O(n
  // log n).
  absl::StatusOr<std::vector<MeteredJob>> Finish(bool cap_slack, std::span<const SlackWindow> others = {});

  // What was added, by segment within a capacity window.
  std::span<const SlackWindow> slack() const { return slack_; }

 private:
  // A job's request in a segment under the slack tax.
  struct TaxItem {
    uint32_t slack;  // index of the SlackWindow
    uint32_t job;    // index of the job
    LineKey key;     // its resource is not set
    PerResource<uint64_t> request;
  };

  Metering(const PriceSheet& sheet, std::span<const CapacityWindow> windows);
  absl::Status AddTo(size_t segment, const UsageEntry& entry, uint32_t job,
                     const PerResource<uint64_t>& charged, const PerResource<uint64_t>& request);
  absl::Status AddLine(uint32_t job, const LineKey& key, uint64_t quantity);
  uint32_t JobOf(const UsageEntry& entry);
  void SortJobs();
  absl::Status ShareSlack(std::span<const TaxItem> items, Resource r, uint64_t taxed,
                          uint64_t others_request);

  const PriceSheet* sheet_;
  BillingTimeline timeline_;
  std::vector<int32_t> slack_of_segment_;
  std::vector<SlackWindow> slack_;
  std::vector<MeteredJob> jobs_;
  std::unordered_map<uint64_t, uint32_t> job_of_;  // group and job -> index
  std::vector<TaxItem> items_;
};

}  // namespace taut::brain
