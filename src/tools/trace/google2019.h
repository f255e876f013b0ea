// Reads the tables of the Google 2019 cell traces (version 3): newline-delimited JSON, one object per line.
//
// docs/reference/traces.md, "Google 2019 (v3)", lists the fields of each table that are used.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

enum class GoogleTable : uint8_t {
  // Tables are in reading order, because a job or machine must be described before its usage.
  kCollectionEvents,
  kInstanceEvents,
  kMachineEvents,
  kInstanceUsage,
  kMachineAttributes,  // known table that is not read
};

// Returns the table that matches a file's name, such as ".../instance_usage-000000000003.json.gz"; nullopt if no
// table matches.
std::optional<GoogleTable> GoogleTableOfName(std::string_view path);
// Returns the table that matches the keys of a line; nullopt if no table matches.
std::optional<GoogleTable> GoogleTableOfLine(std::string_view line);

// Converts lines to rows. Tables should be passed in the order collection_events, instance_events, machine_events,
// instance_usage. In any other order, the rows are equal, but descriptions of jobs (class, priority, logical name)
// are lost. Machines are read only if the sink has machines().
//
// Memory: about 100 bytes per collection, 16 bytes per limit change, and the machines. Not thread-safe. Parses at
// least 0.5 GB/s (google2019_bench).
class Google2019Parser {
 public:
  // Number of bytes after the passed lines that must be readable.
  static constexpr size_t kPadding = 64;

  // The arguments must outlive the parser.
  Google2019Parser(const TraceOptions& options, TraceSink& sink, ReadReport& report);
  ~Google2019Parser();

  // Parses whole lines; the last newline may be missing. `first_line` counts from 1. A line that is not a JSON
  // object, or lacks a required field, is skipped and counted by cause. With options.strict, returns
  // InvalidArgument for such a line.
  absl::Status ParseLines(GoogleTable table, std::string_view file, uint64_t first_line,
                          std::string_view lines);

  // Adds warnings that depend on the whole input. Call once, after the last line.
  void Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut::tools
