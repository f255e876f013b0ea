// Series in the text form that people write:
// `container_memory_working_set_bytes{namespace="shop",pod="web-0"}`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::server {

// Names and values of labels, ascending by name. The metric's name is the label __name__.
using LabelList = std::vector<std::pair<std::string, std::string>>;

// Parses a series in the syntax of Prometheus' text format and queries. Blanks and a comma after the last
// label are optional; values may contain \\, \" and \n. The quotes '' and `` (without escapes) are allowed in
// addition to "". InvalidArgument contains the column and the expected text; a repeated label is an error.
absl::StatusOr<LabelList> ParseSeriesText(std::string_view text);

// Returns a text that ParseSeriesText parses to the same labels.
std::string SeriesText(const LabelList& labels);

}  // namespace taut::server
