// Packs, by which a trace is divided between processes. A pack contains rows of one job and day. Readers pack
// their files, and the process that replays a job adds the job's packs to a JobDayStore, in any order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "tools/trace/job_days.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

struct JobPack {
  const JobInfo* job = nullptr;
  int32_t day = 0;
  uint64_t rows = 0;                // number of rows; 0: only changes of limits, or only the job
  std::optional<int64_t> first_us;  // earliest start of a row; absent without rows
  // True if a task has a number from kFirstNamedTask on. Only the reader of the pack can relate this number to the
  // task's name.
  bool named_tasks = false;
  std::string bytes;  // input of UnpackJobDay()
};

// Collects rows and emits packs. A job and day may have several packs. Memory: the budget, one pack and the jobs'
// names. Not thread-safe.
class JobPacker final : public TraceSink {
 public:
  // Receives a pack, which is valid during the call. Returns false to stop: later rows are dropped.
  using Emit = std::function<bool(const JobPack&)>;
  JobPacker(size_t memory_budget_bytes, Emit emit) : budget_(memory_budget_bytes), emit_(std::move(emit)) {}

  void OnJob(JobId id, const JobInfo& info) override;
  void OnUsage(const UsageRow& row) override;
  void OnLimit(JobId id, Timestamp t, std::optional<float> cpu_cores,
               std::optional<float> memory_bytes) override;
  // Emits the remaining packs. Call once, after the last row.
  void Finish();

 private:
  struct Limit {
    int64_t us = 0;
    float cpu_cores = kAbsent, memory_bytes = kAbsent;
  };
  struct Buffer {
    DayRows rows;
    std::vector<Limit> limits;
    int64_t first_us = INT64_MAX;
    bool named_tasks = false;
  };
  Buffer& BufferOf(JobId job, int32_t day) {
    return buffers_[uint64_t{job.value} << 32 | static_cast<uint32_t>(day)];
  }
  void EmitAll();
  bool EmitOne(JobId job, int32_t day, const Buffer& buffer);

  const size_t budget_;
  const Emit emit_;
  bool stopped_ = false;
  size_t bytes_ = 0;  // size of all buffers
  std::vector<JobInfo> jobs_;
  std::vector<bool> emitted_;                      // true: a pack of the job was emitted; by JobId
  absl::flat_hash_map<uint64_t, Buffer> buffers_;  // key: job << 32 | day
  std::vector<RowShare> shares_;                   // scratch memory
};

// Adds the content of a pack to `store`, as rows of `job`. REQUIRES: `store` knows `job`. Returns InvalidArgument
// for a pack of another version, and DataLoss for bytes that JobPacker cannot have emitted; `store` is then
// unchanged.
absl::Status UnpackJobDay(std::string_view bytes, JobId job, int32_t day, JobDayStore& store);

}  // namespace taut::tools
