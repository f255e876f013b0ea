#include "model/labels.h"

#include <algorithm>

namespace taut {

bool MergeLabels(std::span<const Label> more, std::vector<Label>& labels) {
  bool changed = false;
  for (const auto& [key, value] : more) {
    const auto at = std::ranges::lower_bound(labels, key, {}, &Label::first);
    if (at == labels.end() || at->first != key) {
      labels.emplace(at, key, value);
      changed = true;
    } else if (at->second != value) {
      at->second = value;
      changed = true;
    }
  }
  return changed;
}

}  // namespace taut
