// Fuzzes the reader of every CSV format with arbitrary bytes. Every row is used, or counted with the reason why it
// was skipped. A valid line after these rows is always used.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "brain/cell/recorded_machines.h"
#include "machine_sink.h"
#include "tools/trace/detect.h"
#include "tools/trace/format_reader.h"
#include "tools/trace/job_days.h"

namespace taut {
namespace {

struct Target {
  tools::TraceFormat format;
  std::unique_ptr<tools::FormatReader> (*make)(const tools::ReadContext&);
  int table;
  bool is_usage;
  std::string_view header, good;
};
constexpr std::array<Target, 11> kTargets = {{
    {tools::TraceFormat::kBitbrains, tools::NewBitbrainsReader, 0, true, "",
     "9;\t2;\t5;\t3;\t1;\t8;\t1;\t1;\t2;\t3;\t4\n"},
    {tools::TraceFormat::kBitbrainsCompact, tools::NewBitbrainsCompactReader, 0, true, "", "1,0,2,5,3,8,1\n"},
    {tools::TraceFormat::kGoogle2011, tools::NewGoogle2011Reader, 0, false, "", ""},
    {tools::TraceFormat::kGoogle2011, tools::NewGoogle2011Reader, 1, false, "", ""},
    {tools::TraceFormat::kGoogle2011, tools::NewGoogle2011Reader, 2, false, "", ""},
    {tools::TraceFormat::kGoogle2011, tools::NewGoogle2011Reader, 3, true, "",
     "6,9,3,0,4,0.1,0.1,,,,,,,,,,,0,1,0\n"},
    {tools::TraceFormat::kAlibaba2018, tools::NewAlibaba2018Reader, 1, false, "", ""},
    {tools::TraceFormat::kAlibaba2018, tools::NewAlibaba2018Reader, 2, true, "", "c_1,m_1,10,5,5,,,,,,\n"},
    {tools::TraceFormat::kAlibaba2018, tools::NewAlibaba2018Reader, 3, true, "", "m_1,10,5,5,,,4,3,5\n"},
    {tools::TraceFormat::kAzureVm, tools::NewAzureReader, 1, true, "", "0,v,1,5,2\n"},
    {tools::TraceFormat::kCsv, tools::NewGenericCsvReader, 0, true, "time,job,task,cpu_cores,memory_bytes\n",
     "0,a,0,1,2\n"},
}};

void Feed(tools::FormatReader& reader, std::string_view text, uint64_t first_line) {
  std::string padded(text);
  if (!padded.ends_with('\n')) padded += '\n';
  const size_t size = padded.size();
  padded.append(tools::LineBlocks::kPadding, ',');
  Require(
      reader.ReadLines({tools::LineBlock::Kind::kLines, std::string_view(padded).substr(0, size), first_line})
          .ok());
}

void Run(const Target& target, std::string_view text) {
  const tools::TraceOptions options;
  tools::JobDayStore store({});
  brain::RecordedMachines machines;
  MachineSink sink(store, machines);
  tools::ReadReport report;
  const auto reader = target.make({options, sink, report});
  Require(reader->BeginFile("fuzz", target.table).ok());
  if (!target.header.empty()) Feed(*reader, target.header, 1);
  Feed(*reader, text, 2);
  if (target.is_usage) {
    const uint64_t used = report.rows_used;
    Feed(*reader, target.good, 1'000'000);
    Require(report.rows_used == used + 1);
    uint64_t skipped = 0;
    for (const auto& [cause, what] : report.skipped) skipped += what.count;
    Require(report.rows == report.rows_used + skipped);
  }
  Require(reader->Finish().ok());
  Require(store.report().rows == report.rows_used);
  Require(store.Finish().ok());
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Run(kTargets[data[0] % kTargets.size()], text);
  tools::DetectFile("fuzz.csv", text, tools::TraceFormat::kAuto);
  tools::DetectFile("task_usage/part", text, tools::TraceFormat::kAuto);
  return 0;
}
