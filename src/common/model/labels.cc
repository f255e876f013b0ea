#include "common/model/labels.h"

#include <algorithm>
#include <functional>
#include <iterator>

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

std::optional<std::vector<Label>> WithSettingLabels(std::span<const Label> given,
                                                    std::span<const Label> labels) {
  const auto is_setting = [](const Label& label) { return label.first.starts_with(kSettingLabel); };
  const auto begin = std::ranges::find_if(labels, is_setting);
  const auto end = std::find_if_not(begin, labels.end(), is_setting);
  if (std::equal(begin, end, given.begin(), given.end())) return std::nullopt;
  std::vector<Label> out(labels.begin(), begin);
  std::copy_if(end, labels.end(), std::back_inserter(out), std::not_fn(is_setting));
  MergeLabels(given, out);
  return out;
}

}  // namespace taut
