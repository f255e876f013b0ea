// Labels of a job: search, merge and replacement of settings.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace taut {

using Label = std::pair<std::string, std::string>;  // key and value

// Prefix of labels that are settings of their job: "tautline.dev/mode" with the value "auto".
inline constexpr std::string_view kSettingLabel = "tautline.dev/";

// Returns the value of the first label with this key; nullptr if no label has this key.
const std::string* FindLabel(std::span<const Label> labels, std::string_view key);
// Adds the labels of `more` to `labels` and replaces the values of keys that both contain. `labels` must be
// ascending by key, and remains ascending. Returns false if nothing changed.
bool MergeLabels(std::span<const Label> more, std::vector<Label>& labels);
// Returns `labels` with `given`, which must be ascending, instead of the labels that begin with kSettingLabel.
// Returns nullopt if the labels that begin with kSettingLabel already equal `given`.
std::optional<std::vector<Label>> WithSettingLabels(std::span<const Label> given,
                                                    std::span<const Label> labels);

}  // namespace taut
