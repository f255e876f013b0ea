// Bills of a period: what jobs of a pool are charged by a price sheet, and how the pool's own cost is recovered.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "economy/price_sheet.h"
#include "model/resource.h"

namespace taut {

// Amounts over time. CPU in millicore-seconds, memory in KiB-seconds: 1 PiB for 100 years fits.
using Quantity = uint64_t;

// Of one resource of a job, over one entry.
struct ResourceUse {
  Quantity usage = 0;
  Quantity request = 0;      // what its owner asked for
  Quantity reservation = 0;  // what was reserved for it: the limits in force
  uint64_t peak = 0;         // largest usage at once: millicores, KiB
};

// One job for a while; entries of a job may be given in any order and must not overlap.
struct UseEntry {
  uint32_t job = 0;                      // dense
  uint32_t tier = 0;                     // index in the sheet
  int64_t start_s = 0, end_s = 0;        // half-open
  std::array<ResourceUse, 2> resources;  // by Resource

  const ResourceUse& of(Resource r) const { return resources[static_cast<size_t>(r)]; }
  ResourceUse& of(Resource r) { return resources[static_cast<size_t>(r)]; }
};

// Who pays for what the pool costs beyond what is charged.
enum class IdleSharing : uint8_t {
  kPlatform,    // the platform keeps it: bills are charges alone
  kProportion,  // jobs, in proportion to their charges
  kUniform      // jobs, equally
};
std::string_view Name(IdleSharing sharing);
absl::StatusOr<IdleSharing> ParseIdleSharing(std::string_view name);

struct BillOptions {
  IdleSharing idle = IdleSharing::kPlatform;
  // The period, half-open: what lies outside of it is not charged. Also the time for which capacity is.
  int64_t start_s = 0, end_s = 0;
  // Of the pool: what its machines cost in the period, and what they have; absent: not known, and nothing is
  // shared. Capacity is needed for the slack tax alone.
  std::optional<Money> cost;
  std::array<std::optional<Quantity>, 2> capacity;
  // Slack is at most what the jobs reserved and did not use: the platform keeps capacity that no job asked for.
  bool cap_slack = false;
};

struct BillLine {
  uint32_t tier = 0;
  uint32_t price = 0;  // index in the tier's prices
  Resource resource = Resource::kCpu;
  Quantity quantity = 0;  // charged
  Quantity slack = 0;     // of it, the share of the pool's slack
  Money amount;
};

struct JobBill {
  std::vector<BillLine> lines;  // by tier, price and resource; none of quantity 0
  Money charged;                // sum of the lines
  Money idle;                   // share of the pool's cost that is not charged
  Money total;
};

struct PoolBill {
  std::vector<JobBill> jobs;  // by job
  Money charged, idle_shared, total;
  // The pool's cost less the bills: what the platform pays (or earns, if negative). bills + platform = cost, to
  // the last micro-unit.
  std::optional<Money> platform;
};

// Adds up entries and makes the bills. An amount is rounded once per line, at the end (half up), so bills do not
// depend on the order of entries. The use of an entry counts as even over its time; where a price changes within
// it or the period ends, each part of its quantities is rounded down to a millicore-second or KiB-second.
class Biller {
 public:
  // `sheet` must outlive it. REQUIRES: start_s < end_s.
  Biller(const PriceSheet* sheet, BillOptions options) : sheet_(sheet), options_(options) {}

  // InvalidArgument names the job and what is wrong: an end before the start, an unknown tier, a time before the
  // tier's first price. Nothing of the entry is taken then. O(prices that it spans).
  absl::Status Add(const UseEntry& entry);
  // OutOfRange: a sum is too large for money. `num_jobs`: bills of jobs without entries are empty. O(lines).
  absl::StatusOr<PoolBill> Close(size_t num_jobs) const;

 private:
  // Of a job, tier, price and resource.
  struct Sum {
    Quantity usage = 0, request = 0, reservation = 0, max_request_usage = 0;
    uint64_t peak = 0;
    uint64_t seconds = 0;
  };
  struct Slot {
    uint32_t tier = 0, price = 0;
    std::array<Sum, 2> sums;
  };
  void AddPart(const UseEntry& entry, int64_t start_s, int64_t end_s, uint32_t price);
  Slot& SlotOf(uint32_t job, uint32_t tier, uint32_t price);
  // Slack of each slot in the order of jobs and slots.
  std::vector<Quantity> SlackOf(Resource r) const;
  Quantity Charged(const Slot& slot, Resource r, Quantity slack) const;
  absl::Status ShareIdle(PoolBill& bill) const;

  const PriceSheet* const sheet_;
  const BillOptions options_;
  std::vector<std::vector<Slot>> jobs_;
};

// What a quantity costs: rate x quantity, rounded half up to a micro-unit.
absl::StatusOr<Money> AmountOf(Resource r, const Rates& rates, Quantity quantity);

}  // namespace taut
