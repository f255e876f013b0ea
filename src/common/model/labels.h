// Labels of a job.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace taut {

using Label = std::pair<std::string, std::string>;  // key and value

// Begins labels that are settings of their job: "tautline.dev/mode" with the value "auto".
inline constexpr std::string_view kSettingLabel = "tautline.dev/";

// Returns the value of the first label of this key; nullptr: there is none.
const std::string* FindLabel(std::span<const Label> labels, std::string_view key);
// Sets `more` in `labels`, which are and stay ascending by key; its other labels stay. False: nothing has
// changed.
bool MergeLabels(std::span<const Label> more, std::vector<Label>& labels);
// Makes `given`, ascending, the only labels that begin with kSettingLabel. False: nothing has changed.
bool SetSettingLabels(std::span<const Label> given, std::vector<Label>& labels);

}  // namespace taut
