// Labels of a job.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace taut {

using Label = std::pair<std::string, std::string>;  // key and value

// Sets `more` in `labels`, which are and stay ascending by key; its other labels stay. False: nothing has
// changed.
bool MergeLabels(std::span<const Label> more, std::vector<Label>& labels);

}  // namespace taut
