#include "common/model/labels.h"

#include <algorithm>

namespace taut {

const std::string* FindLabel(std::span<const Label> labels, std::string_view key) {
  const auto it = std::ranges::find_if(labels, [key](const Label& label) { return label.first == key; });
  return it == labels.end() ? nullptr : &it->second;
}

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

bool SetSettingLabels(std::span<const Label> given, std::vector<Label>& labels) {
  const auto is_setting = [](const Label& label) { return label.first.starts_with(kSettingLabel); };
  const auto begin = std::ranges::find_if(labels, is_setting);
  const auto end = std::find_if_not(begin, labels.end(), is_setting);
  if (std::equal(begin, end, given.begin(), given.end())) return false;
  std::erase_if(labels, is_setting);
  MergeLabels(given, labels);
  return true;
}

}  // namespace taut
