#include "brain/replicas/hpa_rates.h"

#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::brain {
namespace {

constexpr std::string_view kDisabled = "disabled", kMaxOf = "max of ", kMinOf = "min of ", kPer = " per ",
                           kPods = " pods", kPod = " pod";
// Kubernetes has the same bound on the period.
constexpr int kMostValue = 1'000'000, kMostPeriodSeconds = 1800;
constexpr size_t kMostRates = 10;

absl::Status InvalidRate(std::string_view text) {
  return absl::InvalidArgumentError(
      StrCat("invalid rate \"", text.substr(0, 80), "\": expected N% or N pods, N from 1 to ", kMostValue,
             ", and a time up to ", kMostPeriodSeconds / 60,
             "m, as in \"max of 100% per 15s; 4 pods per 15s\"; or \"disabled\""));
}

bool RemoveSuffix(std::string_view suffix, std::string_view& text) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

std::optional<HpaRate> ParseRate(std::string_view text) {
  HpaRate rate;
  const size_t per = text.find(kPer);
  if (per == std::string_view::npos) return std::nullopt;
  const absl::StatusOr<int64_t> period = ParseDurationSeconds(StripSpace(text.substr(per + kPer.size())));
  if (!period.ok() || *period < 1 || *period > kMostPeriodSeconds) return std::nullopt;
  rate.period_s = static_cast<int>(*period);
  std::string_view amount = StripSpace(text.substr(0, per));
  if (RemoveSuffix("%", amount)) {
    rate.unit = HpaRate::Unit::kPercent;
  } else if (RemoveSuffix(kPods, amount) || RemoveSuffix(kPod, amount)) {
    rate.unit = HpaRate::Unit::kPods;
  } else {
    return std::nullopt;
  }
  amount = StripSpace(amount);
  const auto [end, error] = std::from_chars(amount.data(), amount.data() + amount.size(), rate.value);
  if (error != std::errc() || end != amount.data() + amount.size()) return std::nullopt;
  return rate.value >= 1 && rate.value <= kMostValue ? std::optional(rate) : std::nullopt;
}

}  // namespace

absl::Status ParseHpaRates(std::string_view text, HpaDirection& direction) {
  std::string_view rest = StripSpace(text);
  if (rest == kDisabled) {
    direction.select = HpaSelect::kDisabled;
    direction.rates.clear();
    return absl::OkStatus();
  }
  const bool least = rest.starts_with(kMinOf);
  if (least || rest.starts_with(kMaxOf)) rest.remove_prefix(kMinOf.size());
  std::vector<HpaRate> rates;
  for (const std::string_view piece : Split(rest, ';')) {
    const std::optional<HpaRate> rate = ParseRate(StripSpace(piece));
    if (!rate.has_value()) return InvalidRate(StripSpace(piece));
    rates.push_back(*rate);
  }
  if (rates.size() > kMostRates)
    return absl::InvalidArgumentError(StrCat(rates.size(), " rates: expected at most ", kMostRates));
  direction.select = least ? HpaSelect::kMin : HpaSelect::kMax;
  direction.rates = std::move(rates);
  return absl::OkStatus();
}

std::string HpaRatesText(const HpaDirection& direction) {
  if (direction.select == HpaSelect::kDisabled) return std::string(kDisabled);
  const bool least = direction.select == HpaSelect::kMin;
  std::string out(least ? kMinOf : direction.rates.size() > 1 ? kMaxOf : "");
  std::string_view separator;
  for (const HpaRate& rate : direction.rates) {
    StrAppend(&out, std::exchange(separator, "; "), rate.value,
              rate.unit == HpaRate::Unit::kPercent ? "%" : kPods, kPer, DurationText(rate.period_s));
  }
  return out;
}

}  // namespace taut::brain
