#include "common/base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/base/did_you_mean.h"

namespace taut {

std::string NearestName(std::string_view name, std::span<const std::string_view> candidates) {
  const std::vector<std::string> nearest = NearestNames(name, candidates, 1);
  return nearest.empty() ? "" : nearest.front();
}

std::vector<std::string> NearestNames(std::string_view name, std::span<const std::string_view> candidates,
                                      size_t count) {
  std::vector<std::pair<size_t, size_t>> order;  // edit distance and index of each candidate
  for (size_t i = 0; i < candidates.size(); ++i) order.emplace_back(EditDistance(name, candidates[i]), i);
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.emplace_back(candidates[order[i].second]);
  return names;
}

}  // namespace taut
