#include "server/kubernetes/client/quantity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "common/base/byte_units.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 16> kSuffixes = {{
    {"Ki", 0x1p10},
    {"Mi", 0x1p20},
    {"Gi", 0x1p30},
    {"Ti", 0x1p40},
    {"Pi", 0x1p50},
    {"Ei", 0x1p60},
    {"n", 1e-9},
    {"u", 1e-6},
    {"m", 1e-3},
    {"k", 1e3},
    {"M", 1e6},
    {"G", 1e9},
    {"T", 1e12},
    {"P", 1e15},
    {"E", 1e18},
    {"", 1},
}};
// Tolerance for rounding up. Decimal fractions of a core are inexact as double, and 0.1 * 3 must result in 300m,
// not 301m.
constexpr double kQuantityRounding = 1e-6;

}  // namespace

std::optional<double> ParseQuantity(std::string_view text) {
  for (const auto& [suffix, factor] : kSuffixes) {
    if (!text.ends_with(suffix)) continue;
    const std::string_view number = text.substr(0, text.size() - suffix.size());
    // "1E" has a suffix (exa) and "1E3" an exponent, but a quantity cannot have both.
    if (!suffix.empty() && number.find_first_of("eE") != std::string_view::npos) return std::nullopt;
    if (number.starts_with("+-")) return std::nullopt;
    const std::optional<double> value = ParseDouble(number);
    if (!value.has_value() || !std::isfinite(*value * factor)) return std::nullopt;
    return *value * factor;
  }
  return std::nullopt;
}

std::string CpuQuantity(double cores) {
  const auto millicores =
      static_cast<int64_t>(std::ceil(std::clamp(cores, 0.0, 1e12) * 1000 - kQuantityRounding));
  return millicores % 1000 == 0 ? StrCat(millicores / 1000) : StrCat(millicores, "m");
}

std::string MemoryQuantity(double bytes) {
  const double whole = std::ceil(std::clamp(bytes, 0.0, 0x1p62));
  const bool whole_mebibytes = whole > 0 && std::fmod(whole, kMiB) == 0;
  return whole_mebibytes ? StrCat(static_cast<int64_t>(whole / kMiB), "Mi")
                         : StrCat(static_cast<int64_t>(whole));
}

std::string Quantity(Resource resource, double amount) {
  return InCores(resource) ? CpuQuantity(amount) : MemoryQuantity(amount);
}

std::string QuantitiesJson(const std::optional<double>& cpu, const std::optional<double>& memory) {
  std::string out;
  if (cpu.has_value()) out = StrCat(R"("cpu":")", CpuQuantity(*cpu), "\"");
  if (memory.has_value())
    StrAppend(&out, out.empty() ? "" : ",", R"("memory":")", MemoryQuantity(*memory), "\"");
  return StrCat("{", out, "}");
}

}  // namespace taut::server
