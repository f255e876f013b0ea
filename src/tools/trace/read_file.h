// One file of a trace into a reader: blocks of lines, damage and progress.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "tools/trace/byte_source.h"
#include "tools/trace/format_reader.h"

namespace taut::tools {

struct PlannedFile {
  InputFile input;
  int table = 0;  // as its format's detection said
};

// How far the reading is, in bytes on disk.
struct FileProgress {
  const ReadProgress& report;
  uint64_t total = 0, before = 0;  // before: of the files that are done

  absl::Status Tell(uint64_t now) const {
    if (!report || report(std::min(before + now, total), total)) return absl::OkStatus();
    return absl::CancelledError("interrupted");
  }
};

// Counts files, bytes, damage and lines that are too long in the report. An error of the reader, or Cancelled.
absl::Status ReadFile(const PlannedFile& file, const TraceOptions& options, FormatReader& reader,
                      ReadReport& report, FileProgress& progress);

}  // namespace taut::tools
