// The tables of the Google 2019 traces as query tools write them, as the lines of JSON that the reader takes.
#pragma once

#include "tools/trace/byte_source.h"

namespace taut::tools {

// Changes `file` to lines of one JSON object where it is an array of objects (bq --format=json,
// --format=prettyjson), or CSV with a header of a table's columns, fields of records as average_usage.cpus or
// average_usage_cpus (bq --format=csv). Other files stay as they are. Line numbers are then those of objects and
// of lines with a row.
void ReadAsGoogleLines(InputFile& file);

}  // namespace taut::tools
