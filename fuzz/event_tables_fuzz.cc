// Fuzzes the readers of a trace's event tables with arbitrary bytes. Each row is used, or counted with the reason
// why it was skipped. The resulting cell can be simulated.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "brain/cell/recorded_cell.h"
#include "tools/trace/detect.h"
#include "tools/trace/event_tables.h"
#include "tools/trace/google2019.h"

namespace taut {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

struct Target {
  std::unique_ptr<tools::FormatReader> (*make)(tools::EventTables& out);
  int table;
  tools::PriorityBands bands;
};
constexpr std::array<Target, 6> kTargets = {{
    {tools::NewGoogle2019EventReader, static_cast<int>(tools::GoogleTable::kCollectionEvents),
     tools::PriorityBands::k2019},
    {tools::NewGoogle2019EventReader, static_cast<int>(tools::GoogleTable::kInstanceEvents),
     tools::PriorityBands::k2019},
    {tools::NewGoogle2011EventReader, static_cast<int>(tools::Google2011Table::kJobEvents),
     tools::PriorityBands::k2011},
    {tools::NewGoogle2011EventReader, static_cast<int>(tools::Google2011Table::kTaskEvents),
     tools::PriorityBands::k2011},
    {tools::NewAlibaba2018EventReader, static_cast<int>(tools::AlibabaTable::kContainerMeta),
     tools::PriorityBands::k2019},
    {tools::NewAlibaba2018EventReader, static_cast<int>(tools::AlibabaTable::kBatchTask),
     tools::PriorityBands::k2019},
}};

void Run(const Target& target, std::string_view text) {
  const tools::TraceOptions options;
  tools::ReadReport report;
  tools::EventTables tables(options, target.bands, report);
  const auto reader = target.make(tables);
  Require(reader->BeginFile("fuzz", target.table).ok());
  std::string padded(text);
  if (!padded.ends_with('\n')) padded += '\n';
  const size_t size = padded.size();
  padded.append(tools::LineBlocks::kPadding, ',');
  Require(
      reader->ReadLines({tools::LineBlock::Kind::kLines, std::string_view(padded).substr(0, size), 1}).ok());
  Require(reader->Finish().ok());
  uint64_t skipped = 0;
  for (const auto& [cause, what] : report.skipped) skipped += what.count;
  Require(report.rows == report.rows_used + skipped);
  const auto folded = tables.Fold();
  Require(folded.ok());
  auto cell = brain::MakeRecordedCell(folded->jobs, folded->spans, brain::RecordedMachines());
  if (!cell.ok()) return;  // the tables have more tasks than a cell may have
  Require(brain::CheckCellWorkload(cell->model, cell->workload).ok());
  brain::CellAt(cell->model, cell->workload, brain::FullestTime(cell->model, cell->workload));
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  if (size == 0) return 0;
  Run(kTargets[data[0] % kTargets.size()], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
