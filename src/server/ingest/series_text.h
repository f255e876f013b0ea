// Series as people write them: `container_memory_working_set_bytes{namespace="shop",pod="web-0"}`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::server {

// Name and value, ascending by name; the metric's name is the label __name__.
using LabelList = std::vector<std::pair<std::string, std::string>>;

// As in Prometheus's text format and its queries: blanks where they do not matter, a comma after the last
// label, \\, \" and \n in values; '' and `` (no escapes) quote as well as "". InvalidArgument names the
// column and what should stand there; a label that is there twice is wrong.
absl::StatusOr<LabelList> ParseSeriesText(std::string_view text);

// What ParseSeriesText reads back to the same.
std::string SeriesText(const LabelList& labels);

}  // namespace taut::server
