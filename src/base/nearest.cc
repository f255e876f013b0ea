#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
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
  std::string_view best;
  size_t best_distance = SIZE_MAX;
  for (std::string_view c : candidates) {
    const size_t distance = EditDistance(name, c);
    if (distance < best_distance) {
      best_distance = distance;
      best = c;
    }
  }
  return std::string(best);
}

}  // namespace taut
