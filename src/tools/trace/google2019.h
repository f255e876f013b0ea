// Reads the tables of the Google 2019 cell traces (version 3): newline-delimited JSON, one object per line.
//
// docs/reference/traces.md, "Google 2019 (v3)", explains which fields of each table are used and why.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

enum class GoogleTable : uint8_t {
  // Tables in the order in which they should be read: facts about a job or machine are needed before its
  // usage.
  kCollectionEvents,
  kInstanceEvents,
  kMachineEvents,
  kInstanceUsage,
  kMachineAttributes,  // recognised, but not read
};

// Returns the table for a file's name (".../instance_usage-000000000003.json.gz"); nullopt for other names.
std::optional<GoogleTable> GoogleTableOfName(std::string_view path);
// Returns the table for the keys in the first line; nullopt if the keys fit no table.
std::optional<GoogleTable> GoogleTableOfLine(std::string_view line);

// Parses lines to rows. Pass collection_events first, then instance_events, machine_events and
// instance_usage. In another order the rows are the same, but facts about jobs that were already read (class,
// priority, logical name) are lost. machine_events, and the machines of rows, are read only if the sink has
// machines().
//
// Memory: about 100 bytes per collection, 16 bytes per limit change, and the machines. Not thread-safe. Parses
// 0.5 GB/s or more (google2019_bench).
class Google2019Parser {
 public:
  // Bytes that must be readable after the lines that are passed in.
  static constexpr size_t kPadding = 64;

  // All three arguments must outlive the parser.
  Google2019Parser(const TraceOptions& options, TraceSink& sink, ReadReport& report);
  ~Google2019Parser();

  // Parses whole lines; the last line may lack its newline. `first_line` counts from 1. A line that is not a
  // JSON object, or lacks a required field, is counted with its cause and skipped. With options.strict such a
  // line is InvalidArgument.
  absl::Status ParseLines(GoogleTable table, std::string_view file, uint64_t first_line,
                          std::string_view lines);

  // Adds the warnings that can be computed only from the whole input. Call once.
  void Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut::tools
