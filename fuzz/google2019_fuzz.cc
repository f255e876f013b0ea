// Fuzzes the reader of the Google 2019 trace with arbitrary bytes. Each line is used, or counted with the reason
// why it was skipped. Used lines can be folded, and a valid line after these lines is always used.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "brain/cell/recorded_machines.h"
#include "machine_sink.h"
#include "tools/trace/google2019.h"
#include "tools/trace/job_days.h"

namespace taut {
namespace {

constexpr std::string_view kGoodLine =
    R"({"start_time":"300000000","end_time":"600000000","collection_id":"4611686018427387904",)"
    R"("average_usage":{"cpus":0.5,"memory":0.25}})";

void Run(tools::GoogleTable table, std::string_view text, const tools::TraceOptions& options) {
  tools::JobDayStore store({});
  brain::RecordedMachines machines;
  MachineSink sink(store, machines);
  tools::ReadReport report;
  tools::Google2019Parser parser(options, sink, report);
  std::string padded(text);
  padded.append(tools::Google2019Parser::kPadding, '"');
  Require(parser.ParseLines(table, "fuzz", 1, std::string_view(padded).substr(0, text.size())).ok());
  const uint64_t used = report.rows_used;
  padded.assign(kGoodLine);
  padded.append(tools::Google2019Parser::kPadding, '"');
  Require(parser
              .ParseLines(tools::GoogleTable::kInstanceUsage, "fuzz", 1,
                          std::string_view(padded).substr(0, kGoodLine.size()))
              .ok());
  Require(report.rows_used == used + 1);
  parser.Finish();
  uint64_t skipped = 0;
  for (const auto& [cause, what] : report.skipped) skipped += what.count;
  if (table == tools::GoogleTable::kInstanceUsage) Require(report.rows == report.rows_used + skipped);
  Require(store.Finish().ok());
  uint64_t windows = 0;
  for (const int32_t day : store.days()) {
    const auto jobs = store.LoadDay(day);
    Require(jobs.ok());
    for (const JobDay& job : *jobs) windows += job.windows.size();
  }
  Require(windows >= 1 && windows <= report.rows_used);
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  tools::TraceOptions options;
  for (const tools::GoogleTable table :
       {tools::GoogleTable::kInstanceUsage, tools::GoogleTable::kInstanceEvents,
        tools::GoogleTable::kCollectionEvents, tools::GoogleTable::kMachineEvents}) {
    Run(table, text, options);
  }
  options.google_count_allocs = true;
  Run(tools::GoogleTable::kInstanceUsage, text, options);
  tools::GoogleTableOfLine(text);
  tools::GoogleTableOfName(text);
  return 0;
}
