#include "economy/money.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/strings.h"

namespace taut {
namespace {

constexpr int kDecimals = 6;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string Digits(uint64_t value, size_t least) {
  std::string out = StrCat(value);
  if (out.size() < least) out.insert(0, least - out.size(), '0');
  return out;
}

uint64_t Magnitude(int64_t value) {
  return value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
}

}  // namespace

absl::StatusOr<Money> ParseMoney(std::string_view text) {
  const auto bad = [text] {
    return absl::InvalidArgumentError(StrCat(
        "\"", text, "\" is not an amount of money; expected one such as 12.50, with at most six decimals"));
  };
  std::string_view rest = StripSpace(text);
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  const size_t dot = std::min(rest.find('.'), rest.size());
  const std::string_view whole = rest.substr(0, dot);
  const std::string_view decimals = dot == rest.size() ? std::string_view() : rest.substr(dot + 1);
  const bool has_dot = dot != rest.size();
  if (whole.empty() || whole.size() > 13 || decimals.size() > kDecimals || (has_dot && decimals.empty()))
    return bad();
  if (!std::ranges::all_of(whole, IsDigit) || !std::ranges::all_of(decimals, IsDigit)) return bad();
  WideInt micros = 0;
  for (const char c : whole) micros = micros * 10 + (c - '0');
  for (size_t i = 0; i < kDecimals; ++i) micros = micros * 10 + (i < decimals.size() ? decimals[i] - '0' : 0);
  const absl::StatusOr<Money> out = ToMoney(negative ? -micros : micros);
  return out.ok() ? out : bad();
}

std::string ToText(Money amount) {
  const uint64_t magnitude = Magnitude(amount.micros);
  std::string decimals = Digits(magnitude % kMicrosPerUnit, kDecimals);
  while (decimals.size() > 2 && decimals.back() == '0') decimals.pop_back();
  return StrCat(amount.micros < 0 ? "-" : "", magnitude / kMicrosPerUnit, ".", decimals);
}

std::string ToRoundedText(Money amount) {
  constexpr uint64_t kMicrosPerCent = 10'000;
  const uint64_t cents = (Magnitude(amount.micros) + kMicrosPerCent / 2) / kMicrosPerCent;
  std::string whole = StrCat(cents / 100);
  for (size_t i = whole.size(); i > 3; i -= 3) whole.insert(i - 3, ",");
  return StrCat(amount.micros < 0 && cents > 0 ? "-" : "", whole, ".", Digits(cents % 100, 2));
}

absl::StatusOr<Money> ToMoney(WideInt micros) {
  if (micros > std::numeric_limits<int64_t>::max() || micros < std::numeric_limits<int64_t>::min()) {
    return absl::OutOfRangeError("an amount of money is above 9.2e12 units");
  }
  return Money{static_cast<int64_t>(micros)};
}

WideInt DivideRounded(WideInt numerator, WideInt denominator) {
  const WideInt whole = numerator / denominator, rest = numerator % denominator;
  return whole + (rest >= denominator - rest ? 1 : 0);
}

std::vector<Money> SplitInProportion(Money total, const std::vector<WideInt>& weights) {
  std::vector<Money> out(weights.size());
  if (weights.empty()) return out;
  WideInt sum = std::accumulate(weights.begin(), weights.end(), WideInt{0});
  const bool equal = sum == 0;
  if (equal) sum = static_cast<WideInt>(weights.size());
  std::vector<std::pair<WideInt, size_t>> remainders;
  remainders.reserve(weights.size());
  int64_t left = total.micros;
  for (size_t i = 0; i < weights.size(); ++i) {
    const WideInt product = WideInt{total.micros} * (equal ? 1 : weights[i]);
    out[i].micros = static_cast<int64_t>(product / sum);
    left -= out[i].micros;
    remainders.emplace_back(product % sum, i);
  }
  // What is left is less than the number of parts with a remainder.
  std::ranges::sort(remainders, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (size_t i = 0; left > 0; ++i, --left) ++out[remainders[i].second].micros;
  return out;
}

}  // namespace taut
