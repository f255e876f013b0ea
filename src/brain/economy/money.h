// Amounts of money in whole millionths of the currency unit, and the exact arithmetic of a bill on them.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::brain {

// The currency is the price sheet's; it may be an internal unit.
struct Money {
  int64_t micros = 0;
  auto operator<=>(const Money&) const = default;
};

// 1'000'000 parts per million: all of it.
inline constexpr int64_t kWholePpm = 1'000'000;

// OutOfRange if the result does not fit.
absl::StatusOr<Money> Add(Money a, Money b);
absl::StatusOr<Money> Subtract(Money a, Money b);
// to += more. OutOfRange, and nothing changes, if it does not fit.
absl::Status AddTo(Money& to, Money more);

// "12.50", "-3", "+0.000001": digits, then optionally a point and 1 to 6 digits. InvalidArgument for other
// text, OutOfRange for more than 9,223,372,036,854.775807 either side of 0.
absl::StatusOr<Money> ParseMoney(std::string_view text);
// At least two decimals and no more than needed: "12.50", "-0.000001". ParseMoney reads the same back.
std::string ToText(Money money);
// Rounded to two decimals, with thousands separated: "1,234.57".
std::string RoundedText(Money money);

// What `quantity` costs at a rate per `per_rate` of that quantity: rate * quantity / per_rate, rounded to the
// nearest micro-unit, halves towards plus infinity. Exact before the rounding. OutOfRange if it does not fit.
// REQUIRES: per_rate > 0.
absl::StatusOr<Money> PriceTimes(Money rate, uint64_t quantity, uint64_t per_rate);

// amount * ppm / 1'000'000, rounded down. REQUIRES: amount >= 0, 0 <= ppm <= 1'000'000.
Money ShareOf(Money amount, int64_t ppm);

// `total` in proportion to the weights by largest remainder: each part is its exact share rounded down or up,
// the parts add up to the total, equal remainders are served by index. Weights that are all 0 count as equal.
// O(n). REQUIRES: weights is not empty.
std::vector<uint64_t> SplitUnits(uint64_t total, std::span<const uint64_t> weights);
// The same of money. Parts of a total >= 0 are >= 0; a negative total is split as its opposite.
std::vector<Money> Split(Money total, std::span<const uint64_t> weights);

}  // namespace taut::brain
