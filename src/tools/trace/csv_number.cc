#include "tools/trace/csv_number.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace taut::tools {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// Removes leading and trailing blanks from the range. Returns false if nothing is left.
bool Trim(const char*& begin, const char*& end) {
  while (begin < end && IsBlank(*begin)) ++begin;
  while (begin < end && IsBlank(end[-1])) --end;
  return begin < end;
}

// Returns `begin` after an optional '+', which from_chars does not accept.
const char* PastPlus(const char* begin, const char* end) {
  return end - begin > 1 && *begin == '+' && begin[1] != '-' ? begin + 1 : begin;
}

}  // namespace

NumberKind ParseDecimalSlow(const char* begin, const char* end, double& out) {
  if (!Trim(begin, end)) return NumberKind::kEmpty;
  double value = 0;
  const auto [rest, error] = std::from_chars(PastPlus(begin, end), end, value);
  // A number too small for double becomes 0. from_chars reports too small and too large numbers alike, so the sign
  // of the exponent decides.
  if (error == std::errc::result_out_of_range && rest == end) {
    for (const char* p = begin; p < end; ++p) {
      if ((*p == 'e' || *p == 'E') && p + 1 < end && p[1] == '-' && *begin != '-') {
        out = 0;
        return NumberKind::kNumber;
      }
    }
  }
  if (error != std::errc() || rest != end || !std::isfinite(value) || value < 0) return NumberKind::kBad;
  out = value + 0.0;  // converts -0 to 0
  return NumberKind::kNumber;
}

NumberKind ParseIntegerSlow(const char* begin, const char* end, int64_t& out) {
  if (!Trim(begin, end)) return NumberKind::kEmpty;
  int64_t value = 0;
  const auto [rest, error] = std::from_chars(PastPlus(begin, end), end, value);
  if (error != std::errc() || rest != end) return NumberKind::kBad;
  out = value;
  return NumberKind::kNumber;
}

}  // namespace taut::tools
