// Amounts of money: whole micro-units of one currency, never floating point.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taut {

// Sums and products of amounts before they are rounded.
__extension__ using WideInt = __int128;

struct Money {
  int64_t micros = 0;
  auto operator<=>(const Money&) const = default;
};
inline constexpr int64_t kMicrosPerUnit = 1'000'000;

// "12", "12.50", "-0.000001": at most six decimals. InvalidArgument names the text.
absl::StatusOr<Money> ParseMoney(std::string_view text);
// Exact, with two decimals at least: "12.50", "0.000001".
std::string ToText(Money amount);
// Rounded to two decimals, half away from zero, with thousands separated: "1,234.57".
std::string ToRoundedText(Money amount);

// OutOfRange: above 9.2e12 units either way.
absl::StatusOr<Money> ToMoney(WideInt micros);

// numerator / denominator, rounded half up. REQUIRES: numerator >= 0, denominator > 0.
WideInt DivideRounded(WideInt numerator, WideInt denominator);

// `total` in parts in proportion to the weights: they sum to the total exactly, each is its exact share rounded
// up or down (the largest remainders are rounded up, of equal ones the first), and none is negative. Weights that
// are all 0 count as equal. Empty for no weights. REQUIRES: total and weights >= 0, sum(weights) * total < 2^127.
// O(n log n).
std::vector<Money> SplitInProportion(Money total, const std::vector<WideInt>& weights);

}  // namespace taut
