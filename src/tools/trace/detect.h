// Detects the format of a file, and the table of this format, from the file's name and first lines.
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

// Returns the format and table of a file; nullopt if no format fits. `head` is the beginning of the file.
// With a format other than kAuto only this format is considered; if the format has only one table, any
// content is accepted.
std::optional<FileKind> DetectFile(std::string_view name, std::string_view head, TraceFormat wanted);

// Returns true if the table is about usage or about jobs with usage. With `with_machines`, also returns true
// for a table of machines.
bool IsForUsage(const FileKind& kind, bool with_machines);
// Returns true if ReadRecordedCell reads the table, because it contains machines, jobs or tasks as a
// scheduler sees them.
bool IsForCells(const FileKind& kind);

}  // namespace taut::tools
