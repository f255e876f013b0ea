// Amounts of money in whole millionths of a currency unit (micro-units), and exact arithmetic for bills.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::brain {

// An amount in the currency of the price sheet, which may be an internal unit.
struct Money {
  int64_t micros = 0;
  auto operator<=>(const Money&) const = default;
};

// The whole, in parts per million.
inline constexpr int64_t kWholePpm = 1'000'000;

// Return OutOfRange if the result does not fit.
absl::StatusOr<Money> Add(Money a, Money b);
absl::StatusOr<Money> Subtract(Money a, Money b);
// Adds `more` to `to`. Returns OutOfRange, and changes nothing, if the sum does not fit.
absl::Status AddTo(Money& to, Money more);

// Parses "12.50", "-3" or "+0.000001": digits, then optionally a point and 1 to 6 digits. Returns
// InvalidArgument for any other text, OutOfRange beyond 9,223,372,036,854.775807 in either direction.
absl::StatusOr<Money> ParseMoney(std::string_view text);
// Returns the amount with at least two decimals, and without superfluous zeros after them: "12.50", "-0.000001".
// ParseMoney parses the text to an equal amount.
std::string ToText(Money money);
// Returns the amount rounded to two decimals, with thousands separators: "1,234.57".
std::string RoundedText(Money money);

// Returns rate * quantity / per_rate: the price of `quantity`, where a quantity of `per_rate` costs `rate`. The
// exact result is rounded to the nearest micro-unit, halves towards plus infinity. Returns OutOfRange if the
// result does not fit. REQUIRES: per_rate > 0.
absl::StatusOr<Money> PriceTimes(Money rate, uint64_t quantity, uint64_t per_rate);

// Returns amount * ppm / 1'000'000, rounded down. REQUIRES: amount >= 0, 0 <= ppm <= 1'000'000.
Money ShareOf(Money amount, int64_t ppm);

// Splits `total` in proportion to the weights by largest remainder: each part is its exact share rounded down or
// up, and the parts sum up to the total. Ties go to the lower index. Weights that are all 0 count as equal.
// O(n). REQUIRES: weights is not empty.
std::vector<uint64_t> SplitUnits(uint64_t total, std::span<const uint64_t> weights);
// Splits an amount like SplitUnits. Parts of a total >= 0 are >= 0. A negative total is split like -total, and the
// parts are negated.
std::vector<Money> Split(Money total, std::span<const uint64_t> weights);

}  // namespace taut::brain
