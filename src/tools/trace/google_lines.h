// Converts tables of the Google 2019 traces, as query tools write them, to the lines of JSON that the reader
// parses.
#pragma once

#include "tools/trace/byte_source.h"

namespace taut::tools {

// Converts `file` to lines of one JSON object if it is an array of objects (bq --format=json,
// --format=prettyjson) or CSV with a header of a table's columns (bq --format=csv). CSV may name the fields of
// records average_usage.cpus or average_usage_cpus. Other files are unchanged. Line numbers then count
// objects, or lines with a row.
void ReadAsGoogleLines(InputFile& file);

}  // namespace taut::tools
