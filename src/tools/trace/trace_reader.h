// Interface between trace formats and the rest of the program.
//
// A reader converts files to UsageRows and facts about jobs, in the order of the files, with bounded memory.
// It does not fold rows into windows: JobDayStore (job_days.h) does.
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
  kBitbrains,         // the archive's own ';\t' files, one VM per file
  kBitbrainsCompact,  // the archive's own files, one VM per file, separated by ';\t'
  kGoogle2019,        // v3 JSON tables
  kGoogle2011,        // v2 CSV tables
  kAlibaba2018,
  kAzureVm,
  kCsv,  // time,job,task,cpu_cores,memory_bytes[,cpu_limit,memory_limit,oom_kills]
};
std::string_view Name(TraceFormat f);
// Returns InvalidArgument with the list of names for an unknown name.
absl::StatusOr<TraceFormat> ParseTraceFormat(std::string_view name);

struct TraceOptions {
  std::vector<std::string>
      paths;  // files, directories, archives (zip, tar.gz); directories are read in name order
  TraceFormat format = TraceFormat::kAuto;
  // Capacity of the largest machine, for traces whose figures are relative to it.
  double unit_cpu_cores = 64;
  double unit_memory_bytes = 256 * kGiB;
  // Half-open range on the trace's own clock, seconds. Rows that start outside are skipped and counted.
  std::optional<int64_t> from_s, to_s;
  // This number of consecutive series become the tasks of one job (1: jobs as in the trace).
  int group = 1;
  // Google 2019: count alloc instances instead of the tasks inside them (never both).
  bool google_count_allocs = false;
  // True: the first bad row is an error.
  bool strict = false;
};

// Rows that were skipped or are contradictory, by cause. Every skipped row is counted here.
struct ReadReport {
  struct Cause {
    uint64_t count = 0;
    std::vector<std::string> examples;  // first few, as "file:line: text"
  };
  uint64_t files = 0, bytes_compressed = 0, bytes = 0, rows = 0, rows_used = 0;
  std::map<std::string, Cause> skipped;  // cause -> rows
  std::map<std::string, Cause> kept;     // cause -> rows that are used although they contradict other rows
  std::vector<std::string> warnings;     // truncated files, ambiguous units, ...
  void Skip(std::string_view cause, std::string_view file, uint64_t line, std::string_view text);
  void Keep(std::string_view cause, std::string_view file, uint64_t line, std::string_view text);
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Called once per job, before its first row. Ids are dense and ascending.
  virtual void OnJob(JobId id, const JobInfo& info) = 0;
  // The row and its spans are valid during the call.
  virtual void OnUsage(const UsageRow& row) = 0;
  // Sets the owner's limit of a job from time t on (event tables). If an amount is absent, the limit of that
  // resource is unchanged.
  virtual void OnLimit(JobId id, Timestamp t, std::optional<float> cpu_cores,
                       std::optional<float> memory_bytes) = 0;
  // Returns the machines of the trace, which readers then fill. Returns null if the sink does not need
  // machines: readers then skip rows that are only about machines.
  virtual brain::RecordedMachines* machines() { return nullptr; }
  // Reports the machine on which the task's row at `start` was measured, as a number of machines(). Called
  // only if machines() is not null.
  virtual void OnPlaced(JobId /*id*/, uint32_t /*task*/, Timestamp /*start*/, uint32_t /*machine*/) {}
};

// Reports the number of compressed bytes read so far, and the number in all files. Returns false to stop
// early.
using ReadProgress = std::function<bool(uint64_t done, uint64_t total)>;

// Reads every path into `sink`. Returns an error if nothing can be read (no such file, unknown format), and
// with strict for the first bad row. Returns Cancelled if `progress` returned false. The report is filled in
// either case.
absl::Status ReadTrace(const TraceOptions& options, TraceSink& sink, ReadReport& report,
                       const ReadProgress& progress = nullptr);

}  // namespace taut::tools
