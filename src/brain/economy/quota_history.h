// What groups had in use of their quota, and really used, by the hour over the last two weeks; and the quota
// that this recommends.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "brain/economy/quota_rows.h"

namespace taut::brain {

// One group, tier and resource.
struct QuotaPlace {
  std::string group, tier, resource;
  auto operator<=>(const QuotaPlace&) const = default;
};

// The highest of an hour, in units of the resource. `in_use`: what counts against the quota.
struct QuotaHour {
  int64_t hour = 0;  // since 1970
  int64_t in_use = 0;
  std::optional<int64_t> usage;  // of jobs; absent: they are not measured for this resource
  bool operator==(const QuotaHour&) const = default;
};

// One thread.
class QuotaHistory {
 public:
  static constexpr int64_t kHours = 14 * 24;
  static constexpr int64_t kLeastHours = 48;  // with fewer nothing is recommended
  static constexpr int64_t kHourSeconds = 3600;

  // A time before the newest hour of the place is left out.
  void Note(const QuotaPlace& place, int64_t time_s, int64_t in_use, std::optional<int64_t> usage);
  // Drops hours from kHours before `now_s` back, and those after it, which a clock that was wrong made. O(places).
  void Forget(int64_t now_s);
  // Of the hours that are kept; absent for a place without any, and for a cohort, in which nothing runs.
  // O(kHours).
  std::optional<QuotaAdvice> AdviceFor(const QuotaRowView& row) const;

  // For keeping it. Hours of a place ascend.
  const std::map<QuotaPlace, std::vector<QuotaHour>>& places() const { return places_; }
  // False, and nothing changes: the hours do not ascend, or an amount is negative.
  bool Restore(const QuotaPlace& place, std::vector<QuotaHour> hours);

 private:
  std::map<QuotaPlace, std::vector<QuotaHour>> places_;
};

}  // namespace taut::brain
