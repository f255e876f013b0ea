// Writes a job story as JSON.
#pragma once

#include "common/base/json_writer.h"
#include "tools/report/html_report.h"

namespace taut::tools {

// Appends the story as one object. The heatmap is packed: each column is a string. The first two characters
// are the number of the lowest bucket (base 64). Then each bucket has one character, the share of the
// column's weight on a log scale: 0 for none, 1 for 0.1 % or less, 63 for all. '.' and a digit (base 64)
// stand for a run of empty buckets, whose length is the digit.
void WriteStory(const JobStory& story, JsonWriter* json);

}  // namespace taut::tools
