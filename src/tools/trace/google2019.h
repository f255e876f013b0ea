// Reads the tables of the Google 2019 cell traces (version 3): newline-delimited JSON, one object a line.
//
// docs/reference/traces.md, "Google 2019 (v3)", says what is taken from which table and why.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

enum class GoogleTable : uint8_t {
  // In the order in which they should be read: what is known of a job or machine comes before its usage.
  kCollectionEvents,
  kInstanceEvents,
  kMachineEvents,
  kInstanceUsage,
  kMachineAttributes,  // recognised; nothing in it is used
};

// By the file's own name (".../instance_usage-000000000003.json.gz").
std::optional<GoogleTable> GoogleTableOfName(std::string_view path);
// By the keys that the first line has.
std::optional<GoogleTable> GoogleTableOfLine(std::string_view line);

// Turns lines into rows. Feed collection_events, then instance_events, machine_events and instance_usage; in
// another order the rows are the same but what the later tables say of jobs that were already seen (class,
// priority, logical name) is lost. machine_events and the machines of rows are read for a sink that takes
// machines.
//
// Memory: about 100 bytes a collection, 16 bytes a limit change, and that of the machines. One thread. 0.5 GB/s
// or more (google2019_bench).
class Google2019Parser {
 public:
  // Bytes that must be readable behind the lines handed over.
  static constexpr size_t kPadding = 64;

  // All three must outlive the parser.
  Google2019Parser(const TraceOptions& options, TraceSink& sink, ReadReport& report);
  ~Google2019Parser();

  // `lines`: whole lines; the last may lack its newline. `first_line` counts from 1. Lines that are no JSON
  // object, or lack what a row needs, are counted with their cause and the next line goes on; with
  // options.strict they are InvalidArgument.
  absl::Status ParseLines(GoogleTable table, std::string_view file, uint64_t first_line,
                          std::string_view lines);

  // Adds the warnings that need the whole input. Call once.
  void Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut::tools
