// Reads usage rows from a stream of Arrow record batches. Columns, rules and counts are the same as in the plain
// CSV format (src/tools/trace/generic_csv.cc), so that a table and its CSV file result in equal replays.
//
// Columns: time, job, cpu_cores or memory_bytes or both; optional: task, cpu_limit, memory_limit, oom_kills,
// duration (seconds), cpu_max. A time is a timestamp, or a number of seconds, milliseconds, microseconds or
// nanoseconds since 1970. The first number decides the unit.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "arrow_c.h"
#include "tools/trace/trace_reader.h"

namespace taut::python {

// Called between batches with the number of rows so far. Returns false to stop.
using RowProgress = std::function<bool(uint64_t rows)>;

// Reads all batches of `stream`, which the caller owns, into `sink`. Returns InvalidArgument with the column for a
// missing column or an unsupported type, and with `strict` for the first invalid row. Returns Cancelled if
// `progress` returned false, and Unavailable with the stream's error if the stream fails.
absl::Status ReadTable(ArrowArrayStream& stream, bool strict, tools::TraceSink& sink,
                       tools::ReadReport& report, const RowProgress& progress);

}  // namespace taut::python
