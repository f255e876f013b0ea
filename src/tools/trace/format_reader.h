// The seam between ReadTrace, which opens files and passes on lines, and the formats, which know what the
// lines mean.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "tools/trace/line_blocks.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

// Reads the files of one trace, one after the other, on one thread.
class FormatReader {
 public:
  virtual ~FormatReader() = default;
  // A file begins. `table` is what the format's own detection said of it (detect.h); files come in ascending
  // order of table, so that what is known of jobs comes before their usage.
  virtual absl::Status BeginFile(std::string_view name, int table) = 0;
  // The next lines of the file (kind kLines). An error ends the reading.
  virtual absl::Status ReadLines(const LineBlock& block) = 0;
  // After the last file: passes on what was held back, adds warnings.
  virtual absl::Status Finish() = 0;
};

// What every reader works with; all must outlive it.
struct ReadContext {
  const TraceOptions& options;
  TraceSink& sink;
  ReadReport& report;
};

std::unique_ptr<FormatReader> NewBitbrainsReader(const ReadContext& context);
std::unique_ptr<FormatReader> NewBitbrainsCompactReader(const ReadContext& context);
std::unique_ptr<FormatReader> NewGoogle2011Reader(const ReadContext& context);
std::unique_ptr<FormatReader> NewGoogle2019Reader(const ReadContext& context);
std::unique_ptr<FormatReader> NewAlibaba2018Reader(const ReadContext& context);
std::unique_ptr<FormatReader> NewAzureReader(const ReadContext& context);
std::unique_ptr<FormatReader> NewGenericCsvReader(const ReadContext& context);

}  // namespace taut::tools
