// Detects the format and the table of a file from its name and first lines.
#pragma once

#include <optional>
#include <string_view>

#include "tools/trace/trace_reader.h"

namespace taut::tools {

// Tables of each format, in the order in which they are read. kUnusedTable marks a known table that is not read.
inline constexpr int kUnusedTable = 1000;
enum class Google2011Table : int { kJobEvents, kTaskEvents, kMachineEvents, kTaskUsage };
enum class AlibabaTable : int { kMachineMeta, kContainerMeta, kContainerUsage, kMachineUsage, kBatchTask };
enum class AzureTable : int { kVms, kReadings };

struct FileKind {
  TraceFormat format = TraceFormat::kAuto;
  int table = 0;
};

// Returns the format and the table of a file; nullopt if no format matches. `head` is the start of the file.
// Unless `wanted` is kAuto, considers only the format `wanted`, and accepts any content if this format has only
// one table.
std::optional<FileKind> DetectFile(std::string_view name, std::string_view head, TraceFormat wanted);

// Returns true if the table contains usage or describes jobs with usage. With `with_machines`, also returns true
// for tables of machines.
bool IsForUsage(const FileKind& kind, bool with_machines);
// Returns true if ReadRecordedCell() reads the table, which contains machines, or events of jobs or tasks.
bool IsForCells(const FileKind& kind);

}  // namespace taut::tools
