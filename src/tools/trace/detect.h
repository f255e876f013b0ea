// Detects the format of a file, and which table of the format it is, by its name and first lines.
#pragma once

#include <optional>
#include <string_view>

#include "tools/trace/trace_reader.h"

namespace taut::tools {

// Tables of each format, in the order in which they are read. kUnusedTable: a recognised table that is not
// read.
inline constexpr int kUnusedTable = 1000;
enum class Google2011Table : int { kJobEvents, kTaskEvents, kMachineEvents, kTaskUsage };
enum class AlibabaTable : int { kMachineMeta, kContainerMeta, kContainerUsage, kMachineUsage, kBatchTask };
enum class AzureTable : int { kVms, kReadings };

struct FileKind {
  TraceFormat format = TraceFormat::kAuto;
  int table = 0;
};

// Returns the format and table of a file; nullopt if no format fits. `head` is the beginning of the file. With
// a format other than kAuto only that format is considered; if it has only one table, any content is accepted.
std::optional<FileKind> DetectFile(std::string_view name, std::string_view head, TraceFormat wanted);

// Returns whether the table is about usage or the jobs that used it; `with_machines`: or about machines.
bool IsForUsage(const FileKind& kind, bool with_machines);
// Returns whether the table has machines, jobs or tasks as a scheduler sees them, which ReadRecordedCell
// reads.
bool IsForCells(const FileKind& kind);

}  // namespace taut::tools
