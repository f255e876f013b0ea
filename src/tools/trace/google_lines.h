// Converts Google 2019 tables from the output formats of query tools to the JSON lines that Google2019Parser
// reads.
#pragma once

#include "tools/trace/byte_source.h"

namespace taut::tools {

// Wraps `file` so that it returns one JSON object per line. The input may be an array of objects (bq --format=json
// or prettyjson), or CSV with a header (bq --format=csv). In CSV, a field of a record is named like
// average_usage.cpus or average_usage_cpus. Leaves other formats unchanged. Line numbers then count objects, or
// CSV lines with a row.
void ReadAsGoogleLines(InputFile& file);

}  // namespace taut::tools
