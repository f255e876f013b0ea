#include "tools/trace/csv_amount.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "common/base/no_limit.h"
#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::tools {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 13> kSuffixes = {{{"n", 1e-9},
                                                                            {"u", 1e-6},
                                                                            {"m", 1e-3},
                                                                            {"k", 1e3},
                                                                            {"M", 1e6},
                                                                            {"G", 1e9},
                                                                            {"T", 1e12},
                                                                            {"P", 1e15},
                                                                            {"E", 1e18},
                                                                            {"Pi", 0x1p50},
                                                                            {"Ei", 0x1p60},
                                                                            {"PiB", 0x1p50},
                                                                            {"EiB", 0x1p60}}};

std::optional<double> Positive(double value) {
  return value >= 0 && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

}  // namespace

std::optional<double> ParseCsvAmount(std::string_view text, bool memory, bool decimal_comma) {
  std::string with_point;
  if (decimal_comma && std::ranges::count(text, ',') == 1 && text.find('.') == std::string_view::npos) {
    with_point = text;
    std::ranges::replace(with_point, ',', '.');
    text = with_point;
  }
  if (const std::optional<double> plain = ParseDouble(text); plain.has_value()) return Positive(*plain);
  if (memory) {
    if (const auto bytes = ParseBytes(text); bytes.ok()) return Positive(*bytes);
  }
  const size_t unit = text.find_last_of("0123456789.") + 1;
  const std::string_view number = StripSpace(text.substr(0, unit)), name = StripSpace(text.substr(unit));
  const auto* const suffix = std::ranges::find(kSuffixes, name, &std::pair<std::string_view, double>::first);
  const std::optional<double> value = ParseDouble(number);
  if (suffix == kSuffixes.end() || !value.has_value()) return std::nullopt;
  return Positive(*value * suffix->second);
}

bool SaysNoLimit(std::string_view text) {
  if (const std::optional<double> number = ParseDouble(text); number.has_value())
    return *number <= 0 || *number >= kNoLimitBytes;
  constexpr std::array<std::string_view, 9> kWords = {"none", "null",     "nan",       "max",   "inf",
                                                      "+inf", "infinity", "unlimited", "<none>"};
  return std::ranges::find(kWords, Lower(text)) != kWords.end();
}

}  // namespace taut::tools
