#include "brain/economy/quota_history.h"

#include <algorithm>
#include <utility>

#include "common/base/byte_units.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

// Returns the 95th percentile of the values, by nearest rank. REQUIRES: values is not empty.
int64_t NinetyFifth(std::vector<int64_t> values) {
  const size_t rank = (values.size() * 95 + 99) / 100 - 1;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(rank));
  return values[rank];
}

// Rounds an amount up to a multiple that people would write as quota.
int64_t RoundedUp(std::string_view resource, int64_t amount) {
  const int64_t step = resource == kQuotaCpu      ? 100
                       : resource == kQuotaMemory ? static_cast<int64_t>(64 * kMiB)
                                                  : 1;
  return (amount + step - 1) / step * step;
}

// Formats an amount; memory is rounded up to whole mebibytes.
std::string TextOf(std::string_view resource, int64_t amount) {
  constexpr auto kStep = static_cast<int64_t>(kMiB);
  return QuotaText(resource, resource == kQuotaMemory ? (amount + kStep - 1) / kStep * kStep : amount);
}

std::string ReasonOf(const QuotaRowView& row, const QuotaAdvice& advice, int64_t lendable) {
  const std::string& r = row.resource;
  std::string out = StrCat("In 95 % of ", advice.hours, " hours at most ", TextOf(r, advice.in_use_p95),
                           " were in use, at the peak ", TextOf(r, advice.in_use_peak));
  if (advice.usage_peak.has_value())
    StrAppend(&out, "; jobs really used at most ", TextOf(r, *advice.usage_peak));
  out += ". ";
  if (!advice.recommended.has_value()) {
    StrAppend(&out, "A quota is recommended after ", QuotaHistory::kLeastHours, " hours.");
  } else if (advice.in_use_peak == advice.in_use_p95 || lendable == 0) {
    out += "The quota is for the peak.";
  } else if (lendable >= advice.in_use_peak - advice.in_use_p95) {
    out += "The quota is for these hours; in the others the group can borrow.";
  } else {
    StrAppend(&out, "The quota is for the peak, of which the group can borrow ", TextOf(r, lendable), ".");
  }
  return out;
}

}  // namespace

void QuotaHistory::Note(const QuotaPlace& place, int64_t time_s, int64_t in_use,
                        std::optional<int64_t> usage) {
  const int64_t hour = time_s / kHourSeconds;
  std::vector<QuotaHour>& hours = places_[place];
  if (!hours.empty() && hours.back().hour > hour) return;
  if (hours.empty() || hours.back().hour < hour) {
    hours.push_back({hour, in_use, usage});
    return;
  }
  QuotaHour& last = hours.back();
  last.in_use = std::max(last.in_use, in_use);
  if (usage.has_value()) last.usage = std::max(last.usage.value_or(0), *usage);
}

void QuotaHistory::Forget(int64_t now_s) {
  const int64_t now = now_s / kHourSeconds;
  for (auto& [place, hours] : places_) {
    // Hours ascend, so that usually at most one hour at either end is dropped.
    const auto old = std::ranges::upper_bound(hours, now - kHours, {}, &QuotaHour::hour);
    hours.erase(hours.begin(), old);
    while (!hours.empty() && hours.back().hour > now) hours.pop_back();
  }
  std::erase_if(places_, [](const auto& place) { return place.second.empty(); });
}

std::optional<QuotaAdvice> QuotaHistory::AdviceFor(const QuotaRowView& row) const {
  const auto found = places_.find({row.group, row.tier, row.resource});
  if (row.cohort || found == places_.end() || found->second.empty()) return std::nullopt;
  std::vector<int64_t> in_use, usage;
  for (const QuotaHour& hour : found->second) {
    in_use.push_back(hour.in_use);
    if (hour.usage.has_value()) usage.push_back(*hour.usage);
  }
  QuotaAdvice out;
  out.hours = static_cast<int64_t>(in_use.size());
  out.in_use_peak = std::ranges::max(in_use);
  out.in_use_p95 = NinetyFifth(std::move(in_use));
  if (!usage.empty()) {
    out.usage_peak = std::ranges::max(usage);
    out.usage_p95 = NinetyFifth(std::move(usage));
  }
  const int64_t lendable = std::max<int64_t>(0, row.maximum - row.cell.quota);
  if (out.hours >= kLeastHours)
    out.recommended = RoundedUp(
        row.resource, std::max(out.in_use_p95, out.in_use_peak - std::min(lendable, out.in_use_peak)));
  out.reason = ReasonOf(row, out, lendable);
  return out;
}

bool QuotaHistory::Restore(const QuotaPlace& place, std::vector<QuotaHour> hours) {
  for (size_t i = 0; i < hours.size(); ++i) {
    const QuotaHour& h = hours[i];
    if (h.in_use < 0 || h.usage.value_or(0) < 0 || (i > 0 && hours[i - 1].hour >= h.hour)) return false;
  }
  places_[place] = std::move(hours);
  return true;
}

}  // namespace taut::brain
