#include "common/model/pod_totals.h"

#include <algorithm>

namespace taut {
namespace {

bool IsRecommended(const ContainerResources& of) { return of.request.has_value() || of.limit.has_value(); }

}  // namespace

PodTotals TotalsOf(std::span<const PodPart> parts) {
  PodTotals out;
  out.containers = static_cast<uint32_t>(parts.size());
  out.recommended = static_cast<uint32_t>(std::ranges::count_if(
      parts, [](const PodPart& part) { return std::ranges::any_of(part.recommended, IsRecommended); }));
  for (const Resource r : kResources) {
    const size_t at = static_cast<size_t>(r);
    ContainerResources& sum = out.amounts[at];
    bool all_limited = !parts.empty();
    double limits = 0;
    for (const PodPart& part : parts) {
      const ContainerResources& wanted = part.recommended[at];
      const std::optional<double> limit = wanted.limit.has_value() ? wanted.limit : part.now[at].limit;
      std::optional<double> request = wanted.request.has_value() ? wanted.request : part.now[at].request;
      if (!request.has_value()) request = limit;
      if (request.has_value()) sum.request = sum.request.value_or(0) + *request;
      all_limited &= limit.has_value();
      limits += limit.value_or(0);
    }
    if (all_limited) sum.limit = limits;
  }
  return out;
}

}  // namespace taut
