#include "brain/economy/money.h"

#include <algorithm>
#include <numeric>

#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr size_t kDecimals = 6;
constexpr uint64_t kMicrosPerUnit = 1'000'000;
constexpr uint64_t kMostMicros = INT64_MAX;

uint64_t Magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

int64_t Signed(uint64_t magnitude, bool negative) {
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

absl::Status NoMoney(std::string_view text) {
  return absl::InvalidArgumentError(StrCat("\"", ShortText(text),
                                           "\" is not an amount of money: expected digits, then ",
                                           "at most a point and 1 to 6 digits, as in \"12.50\""));
}

bool AllDigits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

absl::StatusOr<Money> Add(Money a, Money b) {
  Money sum;
  if (__builtin_add_overflow(a.micros, b.micros, &sum.micros))
    return absl::OutOfRangeError(StrCat("the sum of ", ToText(a), " and ", ToText(b), " is out of range"));
  return sum;
}

absl::Status AddTo(Money& to, Money more) {
  const absl::StatusOr<Money> sum = Add(to, more);
  if (!sum.ok()) return sum.status();
  to = *sum;
  return absl::OkStatus();
}

absl::StatusOr<Money> Subtract(Money a, Money b) {
  Money difference;
  if (__builtin_sub_overflow(a.micros, b.micros, &difference.micros))
    return absl::OutOfRangeError(StrCat(ToText(a), " less ", ToText(b), " is out of range"));
  return difference;
}

absl::StatusOr<Money> ParseMoney(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  const size_t point = rest.find('.');
  const std::string_view whole = rest.substr(0, point);
  std::string_view decimals;
  if (point != std::string_view::npos) {
    decimals = rest.substr(point + 1);
    if (decimals.empty() || decimals.size() > kDecimals) return NoMoney(text);
  }
  if (whole.empty() || !AllDigits(whole) || !AllDigits(decimals)) return NoMoney(text);
  uint64_t micros = 0;
  bool overflow = false;
  for (size_t i = 0; i < whole.size() + kDecimals; ++i) {
    const size_t decimal = i - whole.size();  // index of the decimal; valid only after the whole part
    const char digit = i < whole.size() ? whole[i] : decimal < decimals.size() ? decimals[decimal] : '0';
    overflow = overflow || __builtin_mul_overflow(micros, uint64_t{10}, &micros) ||
               __builtin_add_overflow(micros, static_cast<uint64_t>(digit - '0'), &micros);
  }
  if (overflow || micros > kMostMicros + (negative ? 1 : 0))
    return absl::OutOfRangeError(StrCat("\"", ShortText(text), "\" is out of range: at most ",
                                        ToText({INT64_MAX}), " either side of 0"));
  return Money{Signed(micros, negative)};
}

std::string ToText(Money money) {
  const uint64_t micros = Magnitude(money.micros);
  std::string text = fmt::format("{}{}.{:06}", money.micros < 0 ? "-" : "", micros / kMicrosPerUnit,
                                 micros % kMicrosPerUnit);
  for (size_t i = 0; i < kDecimals - 2 && text.back() == '0'; ++i) text.pop_back();
  return text;
}

std::string RoundedText(Money money) {
  constexpr uint64_t kMicrosPerCent = 10'000;
  const uint64_t cents = (Magnitude(money.micros) + kMicrosPerCent / 2) / kMicrosPerCent;
  std::string whole = StrCat(cents / 100);
  for (size_t i = whole.size(); i > 3; i -= 3) whole.insert(i - 3, ",");
  return fmt::format("{}{}.{:02}", money.micros < 0 && cents > 0 ? "-" : "", whole, cents % 100);
}

absl::StatusOr<Money> PriceTimes(Money rate, uint64_t quantity, uint64_t per_rate) {
  const bool negative = rate.micros < 0;
  const Wide product = static_cast<Wide>(Magnitude(rate.micros)) * quantity;
  Wide amount = product / per_rate;
  const auto rest = static_cast<uint64_t>(product % per_rate);
  // Compares `rest` with the distance to the next unit, because doubling `rest` could overflow.
  const uint64_t to_next = per_rate - rest;
  if (rest > to_next || (rest == to_next && !negative)) ++amount;
  if (amount > kMostMicros)
    return absl::OutOfRangeError(
        StrCat("a quantity of ", quantity, " at ", ToText(rate), " per ", per_rate, " is out of range"));
  return Money{Signed(static_cast<uint64_t>(amount), negative)};
}

Money ShareOf(Money amount, int64_t ppm) {
  const Wide product = static_cast<Wide>(Magnitude(amount.micros)) * static_cast<uint64_t>(ppm);
  return {static_cast<int64_t>(product / static_cast<uint64_t>(kWholePpm))};
}

std::vector<uint64_t> SplitUnits(uint64_t total, std::span<const uint64_t> weights) {
  const size_t n = weights.size();
  Wide sum = 0;
  for (const uint64_t w : weights) sum += w;
  const bool equal = sum == 0;
  if (equal) sum = n;
  std::vector<uint64_t> parts(n);
  std::vector<Wide> remainders(n);
  uint64_t left = total;
  for (size_t i = 0; i < n; ++i) {
    const Wide share = static_cast<Wide>(total) * (equal ? 1 : weights[i]);
    parts[i] = static_cast<uint64_t>(share / sum);
    remainders[i] = share % sum;
    left -= parts[i];
  }
  if (left == 0) return parts;
  // The remainder is less than the number of parts with a fraction, so that each part receives at most one unit.
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  const auto before = [&](size_t a, size_t b) {
    return remainders[a] != remainders[b] ? remainders[a] > remainders[b] : a < b;
  };
  const auto end_of_served = order.begin() + static_cast<ptrdiff_t>(left);
  std::nth_element(order.begin(), end_of_served - 1, order.end(), before);
  std::for_each(order.begin(), end_of_served, [&](size_t i) { ++parts[i]; });
  return parts;
}

std::vector<Money> Split(Money total, std::span<const uint64_t> weights) {
  const std::vector<uint64_t> parts = SplitUnits(Magnitude(total.micros), weights);
  std::vector<Money> out;
  out.reserve(parts.size());
  for (const uint64_t part : parts) out.push_back({Signed(part, total.micros < 0)});
  return out;
}

}  // namespace taut::brain
