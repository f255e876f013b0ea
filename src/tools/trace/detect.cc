#include "tools/trace/detect.h"

#include <algorithm>
#include <array>
#include <vector>

#include "common/base/strings.h"
#include "tools/trace/csv_header.h"
#include "tools/trace/google2019.h"

namespace taut::tools {
namespace {

using Fields = std::vector<std::string_view>;

bool IsNumber(std::string_view s) {
  return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos;
}
// Returns true if `s` consists of `letter`, '_' and digits.
bool IsTagged(std::string_view s, char letter) {
  return s.size() > 2 && s[0] == letter && s[1] == '_' && IsNumber(s.substr(2));
}
// Returns true if the file, or a folder in its path, has the table's name.
bool Named(std::string_view path, std::string_view table) {
  const size_t at = path.rfind(table);
  return at != std::string_view::npos && (at == 0 || path[at - 1] == '/' || path[at - 1] == ':');
}
// Returns true if the line is a header of the plain CSV format.
bool IsGenericHeader(std::string_view line) {
  const std::vector<std::string> names = ColumnNames(line);
  const auto has = [&names](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return has("time") && has("job") && (has("cpu_cores") || has("memory_bytes"));
}

std::optional<int> Google2011TableOf(std::string_view name, const Fields& f, bool empty) {
  struct Known {
    std::string_view name;
    size_t columns;
    int table;
  };
  const std::array<Known, 6> known = {
      {{"job_events", 8, static_cast<int>(Google2011Table::kJobEvents)},
       {"task_events", 13, static_cast<int>(Google2011Table::kTaskEvents)},
       {"task_usage", 20, static_cast<int>(Google2011Table::kTaskUsage)},
       {"machine_events", 6, static_cast<int>(Google2011Table::kMachineEvents)},
       {"machine_attributes", 5, kUnusedTable},
       {"task_constraints", 6, kUnusedTable}}};
  const auto fits = [&](const Known& k) {
    if (empty) return true;
    const bool old_usage = k.columns == 20 && f.size() == 19;
    return (f.size() == k.columns || old_usage) && IsNumber(f[0]);
  };
  for (const Known& k : known) {
    if (Named(name, k.name) && name.find(".json") == std::string_view::npos && fits(k)) return k.table;
  }
  if (empty) return std::nullopt;
  // Without a matching file name, accept only tables whose third and fourth columns are numbers, like IDs of jobs.
  for (const Known& k : known) {
    if (k.columns >= 8 && k.table != kUnusedTable && fits(k) && IsNumber(f[2]) && IsNumber(f[3]))
      return k.table;
  }
  return std::nullopt;
}

std::optional<int> AlibabaTableOf(std::string_view name, const Fields& f, bool empty) {
  struct Known {
    std::string_view name;
    size_t columns;
    char first, second;  // letters before '_' in the first two columns; 0: any text
    int table;
  };
  const std::array<Known, 6> known = {{
      {"machine_meta", 7, 'm', 0, static_cast<int>(AlibabaTable::kMachineMeta)},
      {"container_meta", 8, 'c', 'm', static_cast<int>(AlibabaTable::kContainerMeta)},
      {"container_usage", 11, 'c', 'm', static_cast<int>(AlibabaTable::kContainerUsage)},
      {"machine_usage", 9, 'm', 0, static_cast<int>(AlibabaTable::kMachineUsage)},
      {"batch_task", 9, 0, 0, static_cast<int>(AlibabaTable::kBatchTask)},
      {"batch_instance", 14, 0, 0, kUnusedTable},
  }};
  for (const Known& k : known) {
    const bool tagged = k.first != 0;
    if (empty || !tagged) {
      if (Named(name, k.name) && (empty || f.size() == k.columns)) return k.table;
    } else if (f.size() == k.columns && IsTagged(f[0], k.first) &&
               (k.second == 0 || IsTagged(f[1], k.second))) {
      return k.table;
    }
  }
  return std::nullopt;
}

// Returns true for the header "timestamp,vm id,min cpu,max cpu,avg cpu", with or without the blanks in its names.
bool IsAzureReadingsHeader(const Fields& f) {
  const std::string vm = f.size() == 5 ? ColumnName(f[1]) : std::string();
  return !vm.empty() && ColumnName(f[0]) == "timestamp" && (vm == "vm id" || vm == "vmid" || vm == "vm_id");
}

std::optional<int> AzureTableOf(std::string_view name, const Fields& f, bool empty) {
  if (empty) {
    if (Named(name, "vmtable")) return static_cast<int>(AzureTable::kVms);
    if (Named(name, "vm_cpu_readings")) return static_cast<int>(AzureTable::kReadings);
    return std::nullopt;
  }
  if (f.size() == 11) {
    const std::string_view category = f[8];
    if (category == "Interactive" || category == "Delay-insensitive" || category == "Unknown" ||
        (Named(name, "vmtable") && category == "vmcategory")) {
      return static_cast<int>(AzureTable::kVms);
    }
  }
  if (IsAzureReadingsHeader(f)) return static_cast<int>(AzureTable::kReadings);
  // Hashed VM IDs have at least 40 characters. Shorter IDs are accepted if the file's name matches.
  if (f.size() == 5 && (IsNumber(f[0]) || f[0] == "timestamp") &&
      (f[1].size() >= 40 || Named(name, "vm_cpu_readings"))) {
    return static_cast<int>(AzureTable::kReadings);
  }
  return std::nullopt;
}

std::optional<int> TableOf(TraceFormat format, std::string_view name, std::string_view line) {
  const bool empty = line.empty();
  const Fields fields = Split(line, ',');
  const auto yes = [](bool holds) { return holds ? std::optional(0) : std::nullopt; };
  switch (format) {
    case TraceFormat::kAuto:
      break;
    case TraceFormat::kBitbrains:
      return yes(line.starts_with("Timestamp [ms];") || line.starts_with("Timestamp [s];"));
    case TraceFormat::kBitbrainsCompact:
      return yes(line.starts_with("vm,ts_s,cores,cpu_cap_mhz,cpu_mhz,mem_cap_kb,mem_kb"));
    case TraceFormat::kCsv:
      return yes(IsGenericHeader(line));
    case TraceFormat::kGoogle2019: {
      auto table = GoogleTableOfName(name);
      if (!table && !empty) table = GoogleTableOfLine(line);
      if (!table || (!empty && !line.starts_with('{'))) return std::nullopt;
      return *table == GoogleTable::kMachineAttributes ? kUnusedTable : static_cast<int>(*table);
    }
    case TraceFormat::kGoogle2011:
      return Google2011TableOf(name, fields, empty);
    case TraceFormat::kAlibaba2018:
      return AlibabaTableOf(name, fields, empty);
    case TraceFormat::kAzureVm:
      return AzureTableOf(name, fields, empty);
  }
  return std::nullopt;
}

}  // namespace

std::optional<FileKind> DetectFile(std::string_view name, std::string_view head, TraceFormat wanted) {
  const std::string_view line = FirstContentLine(head);
  // Try formats with a header first, because headers are unambiguous.
  for (const TraceFormat format :
       {TraceFormat::kBitbrains, TraceFormat::kBitbrainsCompact, TraceFormat::kCsv, TraceFormat::kGoogle2019,
        TraceFormat::kAlibaba2018, TraceFormat::kAzureVm, TraceFormat::kGoogle2011}) {
    if (wanted != TraceFormat::kAuto && wanted != format) continue;
    if (const auto table = TableOf(format, name, line)) return FileKind{format, *table};
  }
  // If the user named the format, accept shorter VM IDs.
  if (wanted == TraceFormat::kAzureVm) {
    const Fields fields = Split(line, ',');
    if (fields.size() == 5 && IsNumber(fields[0]))
      return FileKind{wanted, static_cast<int>(AzureTable::kReadings)};
  }
  const bool one_table = wanted == TraceFormat::kBitbrains || wanted == TraceFormat::kBitbrainsCompact ||
                         wanted == TraceFormat::kCsv;
  if (one_table) return FileKind{wanted, 0};
  return std::nullopt;
}

bool IsForUsage(const FileKind& kind, bool with_machines) {
  const auto is = [&](TraceFormat format, auto table) {
    return kind.format == format && kind.table == static_cast<int>(table);
  };
  if (is(TraceFormat::kAlibaba2018, AlibabaTable::kBatchTask)) return false;
  return with_machines || !(is(TraceFormat::kGoogle2019, GoogleTable::kMachineEvents) ||
                            is(TraceFormat::kGoogle2011, Google2011Table::kMachineEvents));
}

bool IsForCells(const FileKind& kind) {
  if (kind.table == kUnusedTable) return false;
  switch (kind.format) {
    case TraceFormat::kGoogle2019:
      return kind.table < static_cast<int>(GoogleTable::kInstanceUsage);
    case TraceFormat::kGoogle2011:
      return kind.table < static_cast<int>(Google2011Table::kTaskUsage);
    case TraceFormat::kAlibaba2018:
      return kind.table != static_cast<int>(AlibabaTable::kContainerUsage) &&
             kind.table != static_cast<int>(AlibabaTable::kMachineUsage);
    default:
      return false;
  }
}

}  // namespace taut::tools
