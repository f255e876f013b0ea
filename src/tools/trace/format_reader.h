// Interface between ReadTrace(), which opens files and splits them into lines, and the formats, which parse the
// lines.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "tools/trace/line_blocks.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

// Reads the files of one trace one after the other, on one thread.
class FormatReader {
 public:
  virtual ~FormatReader() = default;
  // Begins a file. `table` is the result of DetectFile(). Files are passed in ascending order of `table`, so that
  // jobs are described before their usage.
  virtual absl::Status BeginFile(std::string_view name, int table) = 0;
  // Reads the next lines of the file (kind kLines). An error ends the reading.
  virtual absl::Status ReadLines(const LineBlock& block) = 0;
  // Passes the remaining rows to the sink, and adds warnings. Called after the last file.
  virtual absl::Status Finish() = 0;
};

// Objects that every reader uses, and that must outlive the reader.
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
