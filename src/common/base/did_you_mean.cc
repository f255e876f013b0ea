#include "common/base/did_you_mean.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/nearest.h"

namespace taut {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, row(b.size() + 1), next(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before = std::exchange(row, next);
  }
  return row[b.size()];
}

std::string DidYouMean(std::string_view name, std::span<const std::string_view> candidates) {
  constexpr size_t kFewest = 3;  // shorter texts are contained in almost any candidate
  std::string nearest = NearestName(name, candidates);
  const std::string_view last = name.substr(name.rfind('.') + 1);
  if (nearest.empty()) return "";
  if (2 * EditDistance(name, nearest) > last.size()) {
    const auto contains = [name](std::string_view candidate) {
      return candidate.find(name) != std::string_view::npos;
    };
    const auto found = std::ranges::find_if(candidates, contains);
    if (name.size() < kFewest || found == candidates.end()) return "";
    nearest = *found;
  }
  return "; did you mean \"" + nearest + "\"?";
}

}  // namespace taut
