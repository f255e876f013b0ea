// Interface between the readers of trace formats and the rest of the program.
//
// A reader converts files to UsageRows and descriptions of jobs, in the order of the files and with bounded
// memory. JobDayStore (job_days.h) folds the rows into windows.
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
#include "common/base/bytes.h"
#include "common/model/usage.h"

namespace taut::brain {
class RecordedMachines;
}  // namespace taut::brain

namespace taut::tools {

enum class TraceFormat : uint8_t {
  kAuto,
  kBitbrains,         // the archive's files with ";\t" as separator, one VM per file
  kBitbrainsCompact,  // a compact CSV with all VMs
  kGoogle2019,        // JSON tables of version 3
  kGoogle2011,        // CSV tables of version 2
  kAlibaba2018,
  kAzureVm,
  kCsv,  // time,job,task,cpu_cores,memory_bytes[,cpu_limit,memory_limit,oom_kills]
};
std::string_view Name(TraceFormat f);
// Returns InvalidArgument with the list of names for an unknown name.
absl::StatusOr<TraceFormat> ParseTraceFormat(std::string_view name);

struct TraceOptions {
  // Files, directories and archives (zip, tar.gz). A directory is read in natural order.
  std::vector<std::string> paths;
  TraceFormat format = TraceFormat::kAuto;
  // Capacity of the largest machine, for traces with relative amounts.
  double unit_cpu_cores = 64;
  double unit_memory_bytes = 256 * kGiB;
  // Time range [from_s, to_s) on the trace's own clock. Rows that start outside are skipped and counted.
  std::optional<int64_t> from_s, to_s;
  // Number of consecutive series that become the tasks of one job; 1: jobs as in the trace.
  int group = 1;
  // Google 2019: true to count alloc instances instead of the tasks inside them.
  bool google_count_allocs = false;
  // True: the first invalid row is an error.
  bool strict = false;
};

// Numbers of skipped rows and of contradictory rows, by cause.
struct ReadReport {
  struct Cause {
    uint64_t count = 0;
    std::vector<std::string> examples;  // first examples, as "file:line: text"
  };
  uint64_t files = 0, bytes_compressed = 0, bytes = 0, rows = 0, rows_used = 0;
  std::map<std::string, Cause> skipped;  // key: cause
  std::map<std::string, Cause> kept;     // rows that are used although they contradict other rows, by cause
  std::vector<std::string> warnings;     // warnings, such as truncated files or ambiguous units
  void Skip(std::string_view cause, std::string_view file, uint64_t line, std::string_view text);
  void Keep(std::string_view cause, std::string_view file, uint64_t line, std::string_view text);

  // Adds the counts of other files. Keeps the first examples of each cause.
  void Merge(const ReadReport& other);
  void Save(ByteWriter& out) const;
  // Reads the bytes that Save wrote. Returns false for bytes that Save cannot have written.
  bool Load(ByteReader& in);
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Receives a job before its first row. Ids are dense and ascending.
  virtual void OnJob(JobId id, const JobInfo& info) = 0;
  // Receives a row. The row and its spans are valid during the call.
  virtual void OnUsage(const UsageRow& row) = 0;
  // Receives the owner's limits of a job from time t on (event tables). An absent amount leaves the limit of the
  // resource unchanged.
  virtual void OnLimit(JobId id, Timestamp t, std::optional<float> cpu_cores,
                       std::optional<float> memory_bytes) = 0;
  // Returns the object that readers fill with the trace's machines. Returns null if the sink needs no machines, so
  // that readers skip rows about machines.
  virtual brain::RecordedMachines* machines() { return nullptr; }
  // Receives the machine of the task's row at `start`, as a number of machines(). Called only if machines() is not
  // null.
  virtual void OnPlaced(JobId /*id*/, uint32_t /*task*/, Timestamp /*start*/, uint32_t /*machine*/) {}
};

// Receives the number of compressed bytes read so far and in total. Returns false to stop early.
using ReadProgress = std::function<bool(uint64_t done, uint64_t total)>;

// Reads all paths into `sink`. Returns an error if nothing can be read, such as a missing file or an unknown
// format, and with `strict` for the first invalid row. Returns Cancelled if `progress` returned false. `report` is
// complete even after an error.
absl::Status ReadTrace(const TraceOptions& options, TraceSink& sink, ReadReport& report,
                       const ReadProgress& progress = nullptr);

}  // namespace taut::tools
