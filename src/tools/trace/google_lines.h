// Converts tables of the Google 2019 traces, in the formats in which query tools write them, to the lines of
// JSON that Google2019Parser reads.
#pragma once

#include "tools/trace/byte_source.h"

namespace taut::tools {

// Converts `file` to lines of one JSON object each. The file may be an array of objects (bq --format=json,
// --format=prettyjson) or CSV with a header of a table's columns (bq --format=csv). CSV columns for fields of
// records may be named average_usage.cpus or average_usage_cpus. Files in other formats are unchanged. The
// line numbers of a converted file count objects, or CSV lines with a row.
void ReadAsGoogleLines(InputFile& file);

}  // namespace taut::tools
