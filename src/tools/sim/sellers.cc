#include "tools/sim/sellers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "fmt/format.h"

namespace taut::tools {
namespace {

constexpr double kDays = 30;
constexpr int64_t kSameTimes = 7;
constexpr double kCorrectionLevel = 0.95;
constexpr int64_t kLeastSamples = 12;

// Returns the measured values in ascending order.
std::vector<double> Sorted(std::span<const double> values) {
  std::vector<double> out;
  out.reserve(values.size());
  for (double v : values) {
    if (!std::isnan(v)) out.push_back(v);
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Returns the number of steps, out of n, that may be missed. Without 1e-9, (1 - 0.9) * 10 is less than 1 in
// floating point, and the result would be 0.
size_t MayMiss(size_t n, double promise) {
  return static_cast<size_t>(std::floor((1 - promise) * static_cast<double>(n) + 1e-9));
}

struct Mean {
  double sum = 0;
  int64_t n = 0;
  void Add(double v) {
    if (std::isnan(v)) return;
    sum += v;
    ++n;
  }
  double value() const {
    return n > 0 ? sum / static_cast<double>(n) : std::numeric_limits<double>::infinity();
  }
};

Mean MeanOfLast(std::span<const double> values, int64_t n) {
  Mean mean;
  for (double v : values.last(std::min(values.size(), static_cast<size_t>(n)))) mean.Add(v);
  return mean;
}

double ConservativeMean(std::span<const double> past, int64_t step_s) {
  const int64_t hour = 3600 / step_s, day = 24 * hour;
  const auto n = static_cast<int64_t>(past.size());
  double least = std::min(MeanOfLast(past, hour).value(), MeanOfLast(past, day).value());
  for (int64_t ahead = 0; ahead < hour; ++ahead) {
    Mean mean;
    for (int64_t at = n + ahead - day; at >= 0 && mean.n < kSameTimes; at -= day)
      mean.Add(past[static_cast<size_t>(at)]);
    least = std::min(least, mean.value());
  }
  return least;
}

std::span<const double> LastDays(std::span<const double> past, int64_t step_s) {
  return past.last(std::min(past.size(), static_cast<size_t>(kDays * 86'400 / static_cast<double>(step_s))));
}

// Returns x > 0 with P(Z > x) = p for a standard normal Z.
double NormalTail(double p) {
  const double t = std::sqrt(-2 * std::log(p));
  return t -
         (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

}  // namespace

std::optional<double> QuantileAmount(std::span<const double> available, double promise) {
  std::vector<double> values;
  values.reserve(available.size());
  for (double v : available) {
    if (!std::isnan(v)) values.push_back(v);
  }
  if (values.empty()) return std::nullopt;
  const auto at = values.begin() +
                  static_cast<std::ptrdiff_t>(std::min(values.size() - 1, MayMiss(values.size(), promise)));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

namespace {

struct Pooled {
  double amount = 0;  // amounts of all horizons, summed
  double missed = 0;
};

// Returns the sum of the best amounts of all horizons if a missed step costs `price`.
Pooled BestAt(const std::vector<std::vector<double>>& horizons, double price) {
  Pooled all;
  for (const auto& sorted : horizons) {
    size_t best = 0;
    for (size_t i = 1; i < sorted.size(); ++i) {
      if (sorted[i] - price * static_cast<double>(i) > sorted[best] - price * static_cast<double>(best))
        best = i;
    }
    all.amount += sorted[best];
    all.missed += static_cast<double>(best);
  }
  return all;
}

}  // namespace

std::optional<double> PooledBound(std::span<const double> available, int64_t horizon_steps, double promise) {
  std::vector<std::vector<double>> horizons;
  const auto length = static_cast<size_t>(horizon_steps);
  double allowed = 0;
  for (size_t from = 0; from + length <= available.size(); from += length) {
    std::vector<double> sorted = Sorted(available.subspan(from, length));
    if (sorted.empty()) continue;
    allowed += (1 - promise) * static_cast<double>(sorted.size());
    horizons.push_back(std::move(sorted));
  }
  if (horizons.empty()) return std::nullopt;
  double low = 0, high = 0;  // range of prices; no step is missed at price `high`
  for (const auto& sorted : horizons) high = std::max(high, sorted.back() - sorted.front());
  double bound = std::numeric_limits<double>::infinity();
  // Each price results in a valid upper bound, so the number of iterations affects only how tight the bound is.
  for (int i = 0; i < 60; ++i) {
    const double price = (low + high) / 2;
    const Pooled all = BestAt(horizons, price);
    bound = std::min(bound, all.amount + price * (allowed - all.missed));  // an upper bound, by weak duality
    (all.missed > allowed ? low : high) = price;
  }
  return bound / static_cast<double>(horizons.size());
}

double StudentQuantile(double q, double n) {
  const double x = NormalTail(1 - q), x2 = x * x;
  const double g1 = x * (x2 + 1) / 4;
  const double g2 = x * ((5 * x2 + 16) * x2 + 3) / 96;
  const double g3 = x * (((3 * x2 + 19) * x2 + 17) * x2 - 15) / 384;
  return x + (g1 + (g2 + g3 / n) / n) / n;
}

std::optional<double> CloudrmQuota(std::span<const double> past, int64_t step_s, double slo) {
  past = LastDays(past, step_s);
  Mean mean;
  for (double v : past) mean.Add(v);
  if (mean.n < kLeastSamples) return GreedyQuota(past, slo);
  double squares = 0;
  for (double v : past) squares += std::isnan(v) ? 0 : (v - mean.value()) * (v - mean.value());
  const auto n = static_cast<double>(mean.n);
  const double sd = std::sqrt(squares / (n - 1));
  const double estimate =
      ConservativeMean(past, step_s) - sd * StudentQuantile(kCorrectionLevel, n - 1) * std::sqrt(1 + 1 / n);
  return std::max(0.0, estimate / slo);
}

std::optional<double> MeanQuota(std::span<const double> past, int64_t step_s, double slo) {
  past = LastDays(past, step_s);
  Mean mean;
  for (double v : past) mean.Add(v);
  if (mean.n < kLeastSamples) return GreedyQuota(past, slo);
  return std::max(0.0, ConservativeMean(past, step_s) / slo);
}

std::optional<double> GreedyQuota(std::span<const double> past, double slo) {
  for (size_t i = past.size(); i-- > 0;) {
    if (!std::isnan(past[i])) return std::max(0.0, past[i] / slo);
  }
  return std::nullopt;
}

absl::StatusOr<SaleAccount> Settle(std::span<const double> available, double amount, double slo,
                                   int64_t price_micro) {
  if (!(amount >= 0) || !std::isfinite(amount))
    return absl::InvalidArgumentError(fmt::format("the amount sold is {}; allowed: 0 or more", amount));
  if (!(slo > 0 && slo <= 1))
    return absl::InvalidArgumentError(fmt::format("the SLO is {}; allowed: above 0, to 1", slo));
  if (price_micro < 0)
    return absl::InvalidArgumentError(
        fmt::format("the price is {} micro-units; allowed: 0 or more", price_micro));
  SaleAccount account;
  const std::vector<double> sorted = Sorted(available);
  if (sorted.empty()) return account;
  const double kept =
      std::clamp(sorted[std::min(sorted.size() - 1, MayMiss(sorted.size(), slo))], 0.0, amount);
  account.kept_amount = kept;
  account.measured_steps = static_cast<int64_t>(sorted.size());
  double kept_unit_steps = 0, before = amount;
  for (double v : available) {
    if (std::isnan(v)) continue;
    account.missed_steps += v < amount ? 1 : 0;
    kept_unit_steps += std::clamp(v, 0.0, kept);
    const double running = std::clamp(v, 0.0, amount);
    account.taken_back += std::max(0.0, before - running);
    before = running;
  }
  const double price = static_cast<double>(price_micro) * slo;
  const double revenue = price * kept_unit_steps;
  const double penalty = price * (amount - kept) * static_cast<double>(sorted.size());
  constexpr double kMost = 9e18;
  if (revenue > kMost || penalty > kMost)
    return absl::InvalidArgumentError(
        fmt::format("{} units at {} micro-units: too much money for 64 bits", amount, price_micro));
  account.revenue_micro = std::llround(revenue);
  account.penalty_micro = std::llround(penalty);
  return account;
}

double Obtainable(double capacity, double used_by_others, double wanted) {
  return std::clamp(wanted, 0.0, std::max(0.0, capacity - used_by_others));
}

}  // namespace taut::tools
