// Reads one file of a trace with the reader of its format, and handles lines, damage and progress.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "tools/trace/byte_source.h"
#include "tools/trace/format_reader.h"

namespace taut::tools {

struct PlannedFile {
  InputFile input;
  int table = 0;  // detected table of the format
};

// Number of bytes on disk read so far.
struct FileProgress {
  const ReadProgress& report;
  uint64_t total = 0, before = 0;  // size of all files, and of the finished files

  absl::Status Tell(uint64_t now) const {
    if (!report || report(std::min(before + now, total), total)) return absl::OkStatus();
    return absl::CancelledError("interrupted");
  }
};

// Reads a file. Counts files, bytes, damage and overlong lines in the report. A file that cannot be opened any
// more results in a warning. Returns errors of the reader, DataLoss for damage with options.strict, and Cancelled.
absl::Status ReadFile(const PlannedFile& file, const TraceOptions& options, FormatReader& reader,
                      ReadReport& report, FileProgress& progress);

}  // namespace taut::tools
