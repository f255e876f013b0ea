// Reads one file of a trace with a format's reader, and handles blocks of lines, damage and progress.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "tools/trace/byte_source.h"
#include "tools/trace/format_reader.h"

namespace taut::tools {

struct PlannedFile {
  InputFile input;
  int table = 0;  // the table that detection found
};

// Bytes on disk that were read so far.
struct FileProgress {
  const ReadProgress& report;
  uint64_t total = 0, before = 0;  // bytes of all files; bytes of the files that are complete

  absl::Status Tell(uint64_t now) const {
    if (!report || report(std::min(before + now, total), total)) return absl::OkStatus();
    return absl::CancelledError("interrupted");
  }
};

// Reads a file. Counts files, bytes, damage and lines that are too long in the report. A file that can no
// longer be opened is a warning. Returns the error of the reader, DataLoss for damage with options.strict, or
// Cancelled.
absl::Status ReadFile(const PlannedFile& file, const TraceOptions& options, FormatReader& reader,
                      ReadReport& report, FileProgress& progress);

}  // namespace taut::tools
