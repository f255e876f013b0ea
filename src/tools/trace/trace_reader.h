// The seam between trace formats and everything else.
//
// A reader turns files into UsageRows and job facts, in the order of the files, with bounded memory. It
// decides nothing: folding into windows is WindowFolder's work.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/byte_units.h"
#include "common/model/usage.h"

namespace taut::brain {
class RecordedMachines;
}  // namespace taut::brain

namespace taut::tools {

enum class TraceFormat : uint8_t {
  kAuto,
  kBitbrains,         // the archive's own ';\t' files, one VM a file
  kBitbrainsCompact,  // vm,ts_s,cores,cpu_cap_mhz,cpu_mhz,mem_cap_kb,mem_kb
  kGoogle2019,        // v3 JSON tables
  kGoogle2011,        // v2 CSV tables
  kAlibaba2018,
  kAzureVm,
  kCsv,  // time,job,task,cpu_cores,memory_bytes[,cpu_limit,memory_limit,oom_kills]
};
std::string_view Name(TraceFormat f);
// InvalidArgument with the list of names.
absl::StatusOr<TraceFormat> ParseTraceFormat(std::string_view name);

struct TraceOptions {
  std::vector<std::string>
      paths;  // files, directories, archives (zip, tar.gz); directories are read in name order
  TraceFormat format = TraceFormat::kAuto;
  // Traces normalised to the largest machine are read as if that machine had this much.
  double unit_cpu_cores = 64;
  double unit_memory_bytes = 256 * kGiB;
  // Half-open range of the trace's own clock, seconds; rows that start outside are skipped and counted.
  std::optional<int64_t> from_s, to_s;
  // Runs of this many neighbouring series become the tasks of one job (1: as the trace says).
  int group = 1;
  // Google 2019: count alloc instances instead of the tasks inside them (never both).
  bool google_count_allocs = false;
  // First bad row is an error.
  bool strict = false;
};

// What was not taken as it stood, by cause. Nothing is dropped without a count here.
struct ReadReport {
  struct Cause {
    uint64_t count = 0;
    std::vector<std::string> examples;  // "file:line: text", the first few
  };
  uint64_t files = 0, bytes_compressed = 0, bytes = 0, rows = 0, rows_used = 0;
  std::map<std::string, Cause> skipped;  // cause -> rows
  std::map<std::string, Cause> kept;     // rows that count although something in them cannot be right
  std::vector<std::string> warnings;     // a truncated file, an ambiguous unit...
  void Skip(std::string_view cause, std::string_view file, uint64_t line, std::string_view text);
  void Keep(std::string_view cause, std::string_view file, uint64_t line, std::string_view text);
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Called once for each job, before its first row; ids are dense and ascending.
  virtual void OnJob(JobId id, const JobInfo& info) = 0;
  virtual void OnUsage(const UsageRow& row) = 0;
  // The owner's limit of a job from time t on (events tables). Absent: that resource is unchanged.
  virtual void OnLimit(JobId id, Timestamp t, std::optional<float> cpu_cores,
                       std::optional<float> memory_bytes) = 0;
  // Machines of the trace, if the sink takes them. Null: readers leave out what says nothing but that.
  virtual brain::RecordedMachines* machines() { return nullptr; }
  // The task's row of that time was measured on that machine, a number of machines(). Only with machines().
  virtual void OnPlaced(JobId /*id*/, uint32_t /*task*/, Timestamp /*start*/, uint32_t /*machine*/) {}
};

// Bytes read so far of bytes in all (compressed), for a progress line. Return false to stop early.
using ReadProgress = std::function<bool(uint64_t done, uint64_t total)>;

// Reads every path into `sink`. Not OK only when nothing sensible can be read (no such file, unknown format)
// or, with strict, at the first bad row; the report is filled either way. Cancelled if `progress` returned
// false.
absl::Status ReadTrace(const TraceOptions& options, TraceSink& sink, ReadReport& report,
                       const ReadProgress& progress = nullptr);

}  // namespace taut::tools
