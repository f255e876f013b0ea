// Which format a file is in, and which table of it: by its name and its first lines.
#pragma once

#include <optional>
#include <string_view>

#include "tools/trace/trace_reader.h"

namespace taut::tools {

// In the order in which tables are read. What is recognised but has nothing of use is kUnused.
inline constexpr int kUnusedTable = 1000;
enum class Google2011Table : int { kJobEvents, kTaskEvents, kMachineEvents, kTaskUsage };
enum class AlibabaTable : int { kMachineMeta, kContainerMeta, kContainerUsage, kMachineUsage, kBatchTask };
enum class AzureTable : int { kVms, kReadings };

struct FileKind {
  TraceFormat format = TraceFormat::kAuto;
  int table = 0;
};

// `head`: the beginning of the file. With a format other than kAuto only that one is considered, and for a
// format of one table whatever the file holds will do. Nothing if no format fits.
std::optional<FileKind> DetectFile(std::string_view name, std::string_view head, TraceFormat wanted);

// Whether the table says something of usage, or of who used it; with_machines: or of machines.
bool IsForUsage(const FileKind& kind, bool with_machines);
// Whether it says something of machines, jobs or tasks as a scheduler sees them; ReadRecordedCell reads it.
bool IsForCells(const FileKind& kind);

}  // namespace taut::tools
