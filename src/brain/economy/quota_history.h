// Hourly history of quota in use and of real usage by group over the last two weeks, and recommendations of
// quota from this history.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "brain/economy/quota_rows.h"

namespace taut::brain {

// The key of a history: one group, tier and resource.
struct QuotaPlace {
  std::string group, tier, resource;
  auto operator<=>(const QuotaPlace&) const = default;
};

// Highest values in an hour, in units of the resource. `in_use` is the amount that counts against the quota.
struct QuotaHour {
  int64_t hour = 0;  // hours since the epoch
  int64_t in_use = 0;
  std::optional<int64_t> usage;  // real usage of jobs; absent if the resource was not measured
  bool operator==(const QuotaHour&) const = default;
};

// Histories of all places. Not thread-safe.
class QuotaHistory {
 public:
  static constexpr int64_t kHours = 14 * 24;
  static constexpr int64_t kLeastHours = 48;  // least number of hours for a recommendation
  static constexpr int64_t kHourSeconds = 3600;

  // Records the values at the time `time_s`. Ignores a time before the newest hour of the place.
  void Note(const QuotaPlace& place, int64_t time_s, int64_t in_use, std::optional<int64_t> usage);
  // Drops hours that are kHours or more before `now_s`, and hours after `now_s`, which a wrong clock caused.
  // O(places).
  void Forget(int64_t now_s);
  // Returns advice from the kept hours. Returns nullopt for a place without hours, and for a cohort, because no
  // job runs in a cohort. O(kHours).
  std::optional<QuotaAdvice> AdviceFor(const QuotaRowView& row) const;

  // Returns all hours by place, for saving. The hours of a place ascend.
  const std::map<QuotaPlace, std::vector<QuotaHour>>& places() const { return places_; }
  // Returns false, and changes nothing, if the hours do not ascend or an amount is negative.
  bool Restore(const QuotaPlace& place, std::vector<QuotaHour> hours);

 private:
  std::map<QuotaPlace, std::vector<QuotaHour>> places_;
};

}  // namespace taut::brain
