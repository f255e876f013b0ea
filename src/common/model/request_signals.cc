#include "common/model/request_signals.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace taut {
namespace {

constexpr PerResource<std::string_view> kNames = {"_qc", "_qm", TAUT_THIRD("_qd")};

}  // namespace

void PutRequests(const OwnerRequests& requests, JobDay& day) {
  JobWindow& window = day.windows.back();
  for (const Resource r : kResources) {
    if (!(requests.of(r) > 0)) continue;
    const auto first = day.signals.begin() + window.first_signal;
    const auto at =
        std::ranges::lower_bound(first, day.signals.end(), kNames[IndexOf(r)], {}, &NamedSignal::name);
    day.signals.insert(at, {std::string(kNames[IndexOf(r)]), requests.of(r)});
    ++window.num_signals;
  }
}

OwnerRequests RequestsOf(std::span<const NamedSignal> signals) {
  OwnerRequests requests;
  for (const NamedSignal& s : signals) {
    for (const Resource r : kResources) {
      if (s.name == kNames[IndexOf(r)] && s.value > 0 && std::isfinite(s.value))
        requests.*OwnerRequests::kFields[IndexOf(r)] = s.value;
    }
  }
  return requests;
}

}  // namespace taut
