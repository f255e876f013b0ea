#include "common/model/allowed_range.h"

#include <cmath>

#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut {
namespace {

constexpr std::string_view kBy = " by ", kTo = "..";

std::string AmountText(Resource r, double amount) {
  return InCores(r) ? StrCat(std::round(amount * 1e6) / 1e6) : BytesText(std::round(amount));
}

std::string SideText(Resource r, const std::optional<double>& amount, const std::string& by) {
  if (!amount.has_value()) return "";
  return by.empty() ? AmountText(r, *amount) : StrCat(AmountText(r, *amount), kBy, by);
}

absl::Status ParseSide(Resource r, std::string_view text, std::optional<double>& amount, std::string& by) {
  text = StripSpace(text);
  if (text.empty()) return absl::OkStatus();
  const size_t at = text.find(kBy);
  if (at != std::string_view::npos) by = StripSpace(text.substr(at + kBy.size()));
  const std::string_view number = StripSpace(text.substr(0, at));
  if (InCores(r)) {
    amount = ParseDouble(number);
  } else if (const absl::StatusOr<double> bytes = ParseBytes(number); bytes.ok()) {
    amount = *bytes;
  }
  if (amount.has_value() && *amount >= 0 && std::isfinite(*amount)) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("\"", number, "\" is no amount: expected ",
                                           InCores(r) ? "cores such as 0.5" : "bytes such as 4GiB"));
}

}  // namespace

absl::StatusOr<AllowedRange> ParseAllowedRange(Resource resource, std::string_view text) {
  AllowedRange range;
  if (StripSpace(text).empty()) return range;
  const size_t at = text.find(kTo);
  if (at == std::string_view::npos)
    return absl::InvalidArgumentError(
        StrCat("\"", text, "\": expected LOWEST..HIGHEST, such as ..4 by a node"));
  if (absl::Status s = ParseSide(resource, text.substr(0, at), range.lower, range.lower_by); !s.ok())
    return s;
  if (absl::Status s = ParseSide(resource, text.substr(at + kTo.size()), range.upper, range.upper_by);
      !s.ok())
    return s;
  if (range.lower.has_value() && range.upper.has_value() && *range.lower > *range.upper)
    return absl::InvalidArgumentError(StrCat("\"", text, "\": the lowest is above the highest"));
  return range;
}

std::string AllowedRangeText(Resource resource, const AllowedRange& range) {
  if (range.empty()) return "";
  return StrCat(SideText(resource, range.lower, range.lower_by), kTo,
                SideText(resource, range.upper, range.upper_by));
}

}  // namespace taut
