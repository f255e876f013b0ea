// Writes a job story as JSON.
#pragma once

#include "common/base/json_writer.h"
#include "tools/report/html_report.h"

namespace taut::tools {

// Appends the story as one object, in which a string encodes each column of the heatmap. The first two characters
// are the number of the lowest bucket (base 64). Each further character is a bucket's share of the column's weight
// on a log scale. 0 is none, 1 is 0.1 % or less, and 63 is all. '.' and a digit (base 64) encode a run of empty
// buckets of this length.
void WriteStory(const JobStory& story, JsonWriter* json);

}  // namespace taut::tools
