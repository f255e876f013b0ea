#include "common/model/signal_name.h"

#include <algorithm>

#include "common/base/strings.h"

namespace taut {
namespace {

// Reserved names: the functions of expressions, and the signals that every job has, such as its load.
constexpr std::string_view kTaken[] = {"load",    "capacity", "ready",    "starting", "count", "hour",
                                       "weekday", "max_over", "avg_over", "p95_over", "min",   "max",
                                       "avg",     "p95",      "ceil",     "floor",    "round", "abs",
                                       "sqrt",    "ln",       "exp"};

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool MayStand(char c) { return IsLower(c) || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

absl::Status CheckSignalName(std::string_view name) {
  if (name.empty() || name.size() > kMostSignalName || !IsLower(name[0]) ||
      !std::ranges::all_of(name, MayStand)) {
    return absl::InvalidArgumentError(StrCat("invalid signal \"", name.substr(0, kMostSignalName),
                                             "\": expected up to ", kMostSignalName,
                                             " lower-case letters, digits and _, a letter first"));
  }
  if (std::ranges::find(kTaken, name) != std::end(kTaken) ||
      std::ranges::find(kOwnSignals, name) != kOwnSignals.end()) {
    return absl::InvalidArgumentError(
        StrCat("invalid signal \"", name, "\": expressions of function.target know this name already"));
  }
  return absl::OkStatus();
}

}  // namespace taut
