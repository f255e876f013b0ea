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

// Bound on times of a bill: seconds since the epoch, in either direction.
inline constexpr int64_t kMaxBillSeconds = int64_t{1} << 40;

// Quantities of one resource in millicore-seconds or mebibyte-seconds; the peak in millicores or mebibytes.
struct UsageQuantities {
  uint64_t usage = 0;
  uint64_t request = 0;      // amount that the tasks requested
  uint64_t reservation = 0;  // bought reservation
  uint64_t peak = 0;         // highest usage in the window
};

// Usage of a job in [start_s, end_s). A job may have many entries, also for equal times (quantities add up).
// Charges by the larger of two quantities or by the peak apply to each entry; the length of entries therefore
// affects these charges.
struct UsageEntry {
  int64_t start_s = 0, end_s = 0;
  uint32_t group = 0, job = 0;      // caller's ids; a job id is unique within its group
  uint16_t tier = 0;                // index in the price sheet
  bool slo_missed = false;          // the job's SLO was missed in this window
  PerResource<UsageQuantities> of;  // by Resource
};

// Capacity of the pool in [start_s, end_s), and its cost to the platform.
struct CapacityWindow {
  int64_t start_s = 0, end_s = 0;
  PerResource<uint64_t> capacity = {};  // as quantities
  std::optional<Money> machine_cost;    // absent: capacity priced at the cost price
  Money overhead;                       // shared cost other than machines: control plane, licences, people
};

// Slack of one resource in a part of a capacity window without price changes. Slack is capacity - quantities
// charged under other rules - usage under the slack tax, at least 0 (papers, chargeback rules).
struct SlackOfResource {
  uint64_t capacity = 0;
  uint64_t charged = 0;    // quantity charged under other rules
  uint64_t usage = 0;      // usage of jobs under the slack tax
  uint64_t request = 0;    // requests of jobs under the slack tax
  uint64_t Slack() const;  // 0 if charged + usage exceeds the capacity
  // Returns the quantity charged to jobs under the slack tax: the slack, with a cap at most max(0, request -
  // usage); 0 without requests. The platform bears the untaxed slack.
  uint64_t Taxed(bool cap) const;
};
// Slack of all resources in a part of a capacity window.
struct SlackWindow {
  int64_t start_s = 0, end_s = 0;
  PerResource<SlackOfResource> of;  // by Resource
};

enum class LineKind : uint8_t { kCharge, kSlackTax };
std::string_view Name(LineKind kind);  // "charge", "slack tax"

// Key of quantities that are charged together. The order of keys is the order of lines in a bill.
struct LineKey {
  uint16_t tier = 0;
  Resource resource = Resource::kCpu;
  LineKind kind = LineKind::kCharge;
  uint32_t price = 0;  // index in the tier's prices
  bool slo_missed = false;
  auto operator<=>(const LineKey&) const = default;
};
struct MeteredLine {
  LineKey key;
  uint64_t quantity = 0;
};
struct MeteredJob {
  uint32_t group = 0, job = 0;
  std::vector<MeteredLine> lines;  // one line for each key, in no order
};

// Factors on an entry in parts per million, for what-ifs.
struct UsageScale {
  int64_t request_ppm = kWholePpm, reservation_ppm = kWholePpm;
  int64_t run_time_ppm = kWholePpm;  // applies to all quantities
  bool reserve_request = false;      // without a reservation, reserve the (scaled) request
};

// Time divided at edges of capacity windows and at price changes of any tier.
class BillingTimeline {
 public:
  static constexpr int32_t kNone = -1;
  struct Segment {
    int64_t start_s, end_s;
    int32_t window = kNone;       // index of the capacity window; kNone: none
    std::vector<int32_t> prices;  // index of the price by tier; kNone: none
  };
  BillingTimeline(const PriceSheet& sheet, std::span<const CapacityWindow> windows);
  // Segments that cover [-kMaxBillSeconds, kMaxBillSeconds), ascending.
  std::span<const Segment> segments() const { return segments_; }
  // Returns the index of the segment that contains the time. O(log n).
  size_t SegmentAt(int64_t time_s) const;

 private:
  std::vector<Segment> segments_;
};

// Sums up entries; the order of entries does not matter. An entry that spans segments is split in proportion to
// time, each quantity into whole units by largest remainder. Not thread-safe.
class Metering {
 public:
  // `sheet` must outlive this object. Returns InvalidArgument if PriceSheet::Check finds an error, or if a
  // capacity window is empty or overlaps the previous window.
  static absl::StatusOr<Metering> Make(const PriceSheet& sheet, std::span<const CapacityWindow> windows);

  // Adds an entry. Returns InvalidArgument for an empty time window, an unknown tier, or the slack tax
  // outside the capacity windows. Returns FailedPrecondition for a time before the tier's first price, and
  // OutOfRange if a quantity does not fit into 64 bits. Do not use the object after an error. O(lines of the
  // job + segments of the entry).
  absl::Status Add(const UsageEntry& entry, const UsageScale& scale = {});

  // Shares the taxed slack of each segment by request, in whole units by largest remainder: first by group, tier
  // and SLO kept or missed, then by job. Returns the jobs, ordered by group and job. Call once, after the last
  // Add. `others`: charges of jobs that were not added, one row for each row of slack(); empty: no such jobs. O(n
  // log n).
  absl::StatusOr<std::vector<MeteredJob>> Finish(bool cap_slack, std::span<const SlackWindow> others = {});

  // Returns the added quantities, one row for each segment within a capacity window.
  std::span<const SlackWindow> slack() const { return slack_; }

 private:
  // A job's request in a segment under the slack tax.
  struct TaxItem {
    uint32_t slack;  // index of the SlackWindow
    uint32_t job;    // index in jobs_
    LineKey key;     // without resource
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
  std::unordered_map<uint64_t, uint32_t> job_of_;  // (group, job) -> index in jobs_
  std::vector<TaxItem> items_;
};

}  // namespace taut::brain
