#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace taut {
namespace {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string NearestName(std::string_view name, std::span<const std::string_view> candidates) {
  const std::vector<std::string> nearest = NearestNames(name, candidates, 1);
  return nearest.empty() ? "" : nearest.front();
}

std::vector<std::string> NearestNames(std::string_view name, std::span<const std::string_view> candidates,
                                      size_t count) {
  std::vector<std::pair<size_t, size_t>> order;  // distance, index
  for (size_t i = 0; i < candidates.size(); ++i) order.emplace_back(EditDistance(name, candidates[i]), i);
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.emplace_back(candidates[order[i].second]);
  return names;
}

}  // namespace taut
