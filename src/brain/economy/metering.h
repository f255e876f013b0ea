// Converts usage entries into charged quantities by job, tier, resource and price.
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

// Bound on the times of a bill: seconds before or after the epoch.
inline constexpr int64_t kMaxBillSeconds = int64_t{1} << 40;

// Quantities of one resource in millicore-seconds or mebibyte-seconds; `peak` in millicores or mebibytes.
struct UsageQuantities {
  uint64_t usage = 0;
  uint64_t request = 0;      // amount that the tasks requested
  uint64_t reservation = 0;  // reservation that was bought
  uint64_t peak = 0;         // highest usage in the window
};

// Usage of a job in [start_s, end_s). A job may have many entries, also for equal times, whose quantities add
// up. Charges by the larger of two quantities or by the peak apply to each entry, so that these charges depend
// on the length of entries.
struct UsageEntry {
  int64_t start_s = 0, end_s = 0;
  uint32_t group = 0, job = 0;      // ids of the caller; a job id is unique within its group
  uint16_t tier = 0;                // index of the tier in the price sheet
  bool slo_missed = false;          // true if the job missed its SLO in this window
  PerResource<UsageQuantities> of;  // quantities by Resource
};

// Capacity of the pool in [start_s, end_s), and its cost to the platform.
struct CapacityWindow {
  int64_t start_s = 0, end_s = 0;
  PerResource<uint64_t> capacity = {};  // capacity, in the units of UsageQuantities
  std::optional<Money> machine_cost;    // cost of the machines; absent: the capacity is priced at cost_price
  Money overhead;  // shared cost in addition to machines: control plane, licences, people
};

// Slack of one resource in a part of a capacity window without price changes. Slack is capacity - quantities
// charged under other rules - usage under the slack tax, at least 0.
struct SlackOfResource {
  uint64_t capacity = 0;
  uint64_t charged = 0;    // quantity charged under other rules
  uint64_t usage = 0;      // usage of jobs under the slack tax
  uint64_t request = 0;    // requests of jobs under the slack tax
  uint64_t Slack() const;  // returns 0 if charged + usage exceeds the capacity
  // Returns the quantity charged to jobs under the slack tax; 0 without requests. The quantity is the slack,
  // with `cap` at most max(0, request - usage). The platform bears the untaxed slack.
  uint64_t Taxed(bool cap) const;
};
// Slack of all resources in a part of a capacity window.
struct SlackWindow {
  int64_t start_s = 0, end_s = 0;
  PerResource<SlackOfResource> of;  // slack by Resource
};

enum class LineKind : uint8_t { kCharge, kSlackTax };
std::string_view Name(LineKind kind);  // returns "charge" or "slack tax"

// Key of the quantities that are charged together. The order of keys is the order of lines in a bill.
struct LineKey {
  uint16_t tier = 0;
  Resource resource = Resource::kCpu;
  LineKind kind = LineKind::kCharge;
  uint32_t price = 0;  // index of the price in the tier's prices
  bool slo_missed = false;
  auto operator<=>(const LineKey&) const = default;
};
struct MeteredLine {
  LineKey key;
  uint64_t quantity = 0;
};
struct MeteredJob {
  uint32_t group = 0, job = 0;
  std::vector<MeteredLine> lines;  // one line for each key, unordered
};

// Factors on an entry in parts per million, for what-if computations.
struct UsageScale {
  int64_t request_ppm = kWholePpm, reservation_ppm = kWholePpm;
  int64_t run_time_ppm = kWholePpm;  // factor on all quantities
  bool reserve_request = false;      // true: an entry without a reservation reserves the scaled request
};

// The time axis, divided at edges of capacity windows and at price changes of any tier.
class BillingTimeline {
 public:
  static constexpr int32_t kNone = -1;
  struct Segment {
    int64_t start_s, end_s;
    int32_t window = kNone;       // index of the capacity window; kNone outside all windows
    std::vector<int32_t> prices;  // index of the price by tier; kNone before the tier's first price
  };
  BillingTimeline(const PriceSheet& sheet, std::span<const CapacityWindow> windows);
  // Returns segments that cover [-kMaxBillSeconds, kMaxBillSeconds), ascending.
  std::span<const Segment> segments() const { return segments_; }
  // Returns the index of the segment that contains the time. O(log n).
  size_t SegmentAt(int64_t time_s) const;

 private:
  std::vector<Segment> segments_;
};

// Sums up entries, in any order. An entry that spans segments is split in proportion to time, each quantity into
// whole units by largest remainder. Not thread-safe.
class Metering {
 public:
  // `sheet` must outlive this object. Returns InvalidArgument if PriceSheet::Check finds an error, or if a
  // capacity window is empty or overlaps the previous window.
  static absl::StatusOr<Metering> Make(const PriceSheet& sheet, std::span<const CapacityWindow> windows);

  // Adds an entry. Returns InvalidArgument for an empty time window, an unknown tier, or an entry under the slack
  // tax outside the capacity windows. Returns FailedPrecondition for a time before the tier's first price, and
  // OutOfRange if a quantity does not fit into 64 bits. The object must not be used after an error. O(lines of the
  // job + segments of the entry).
  absl::Status Add(const UsageEntry& entry, const UsageScale& scale = {});

  // Shares the taxed slack of each segment by request, in whole units by largest remainder: first by group, tier
  // and SLO kept or missed, then by job. Returns the jobs, ordered by group and job. Call once, after the last
  // Add. `others` has the quantities of jobs that were not added, one row for each row of slack(); empty if all
  // jobs were added. O(n log n).
  absl::StatusOr<std::vector<MeteredJob>> Finish(bool cap_slack, std::span<const SlackWindow> others = {});

  // Returns the added quantities, one row for each segment within a capacity window.
  std::span<const SlackWindow> slack() const { return slack_; }

 private:
  // A job's request in a segment under the slack tax.
  struct TaxItem {
    uint32_t slack;  // index in slack_
    uint32_t job;    // index in jobs_
    LineKey key;     // key without the resource
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
  std::unordered_map<uint64_t, uint32_t> job_of_;  // index in jobs_ by (group, job)
  std::vector<TaxItem> items_;
};

}  // namespace taut::brain
