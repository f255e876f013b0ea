#include "tools/trace/job_packs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/bytes.h"
#include "tools/trace/plain_rows.h"

namespace taut::tools {
namespace {

constexpr uint8_t kVersion = 1;
// Maximum numbers in a pack. They limit the memory that a damaged pack can allocate.
constexpr uint64_t kMostRows = uint64_t{1} << 24, kMostShares = uint64_t{1} << 26;
constexpr size_t kBufferBytes = 256;  // approximate size of an empty buffer with its key

bool IsAmount(float value) { return value == kAbsent || (std::isfinite(value) && value >= 0); }

bool IsPossible(const RowRecord& row) {
  return row.window_in_day < kWindowsPerDay && std::isfinite(row.seconds) && row.seconds > 0 &&
         row.start_us < kWindowSeconds * kMicrosPerSecond && IsAmount(row.cpu_mean) &&
         IsAmount(row.cpu_peak) && IsAmount(row.memory_mean) && IsAmount(row.memory_peak) &&
         IsAmount(row.cpu_limit) && IsAmount(row.memory_limit);
}

bool IsPossible(const DayRows& rows) {
  size_t shares = 0;
  for (const RowRecord& row : rows.rows) {
    if (!IsPossible(row)) return false;
    shares += row.num_shares;
  }
  return shares == rows.shares.size() && std::ranges::all_of(rows.shares, [](const RowShare& share) {
           return share.bucket < Grid::Cpu().size();
         });
}

}  // namespace

void JobPacker::OnJob(JobId /*id*/, const JobInfo& info) {
  jobs_.push_back(info);
  emitted_.push_back(false);
}

void JobPacker::OnUsage(const UsageRow& row) {
  if (stopped_) return;
  Buffer& buffer = BufferOf(row.job, WindowId::Of(row.start).day());
  if (buffer.rows.rows.empty() && buffer.limits.empty()) bytes_ += kBufferBytes;
  buffer.rows.rows.push_back(PackRow(row, shares_));
  buffer.rows.rows.back().job = 0;
  buffer.rows.shares.insert(buffer.rows.shares.end(), shares_.begin(), shares_.end());
  buffer.first_us = std::min(buffer.first_us, row.start.us);
  buffer.named_tasks = buffer.named_tasks || row.task >= kFirstNamedTask;
  bytes_ += sizeof(RowRecord) + shares_.size() * sizeof(RowShare);
  if (bytes_ > budget_ || buffer.rows.rows.size() == kMostRows || buffer.rows.shares.size() > kMostShares / 2)
    EmitAll();
}

void JobPacker::OnLimit(JobId id, Timestamp t, std::optional<float> cpu_cores,
                        std::optional<float> memory_bytes) {
  if (stopped_) return;
  BufferOf(id, WindowId::Of(t).day())
      .limits.push_back({t.us, cpu_cores.value_or(kAbsent), memory_bytes.value_or(kAbsent)});
  bytes_ += kBufferBytes;
  if (bytes_ > budget_) EmitAll();
}

bool JobPacker::EmitOne(JobId job, int32_t day, const Buffer& buffer) {
  JobPack pack;
  pack.job = &jobs_[job.value];
  pack.day = day;
  pack.rows = buffer.rows.rows.size();
  if (pack.rows > 0) pack.first_us = buffer.first_us;
  pack.named_tasks = buffer.named_tasks;
  ByteWriter out(&pack.bytes);
  out.Put(kVersion);
  out.PutVarint(buffer.rows.rows.size());
  out.PutVarint(buffer.rows.shares.size());
  out.PutVarint(buffer.limits.size());
  for (const Limit& limit : buffer.limits) {
    out.Put(limit.us);
    out.Put(limit.cpu_cores);
    out.Put(limit.memory_bytes);
  }
  pack.bytes += Compress(buffer.rows);
  emitted_[job.value] = true;
  return emit_(pack);
}

void JobPacker::EmitAll() {
  std::vector<uint64_t> keys;
  for (const auto& [key, buffer] : buffers_) keys.push_back(key);
  std::ranges::sort(keys);
  for (const uint64_t key : keys) {
    stopped_ = stopped_ || !EmitOne(JobId{static_cast<uint32_t>(key >> 32)},
                                    static_cast<int32_t>(static_cast<uint32_t>(key)), buffers_[key]);
  }
  buffers_.clear();
  bytes_ = 0;
}

void JobPacker::Finish() {
  EmitAll();
  // Emit a pack for each job without rows and limits, so that the job is counted.
  for (uint32_t job = 0; job < jobs_.size() && !stopped_; ++job) {
    if (!emitted_[job]) stopped_ = !EmitOne(JobId{job}, 0, {});
  }
}

absl::Status UnpackJobDay(std::string_view bytes, JobId job, int32_t day, JobDayStore& store) {
  const absl::Status damaged = absl::DataLossError("a damaged pack of a job's rows");
  ByteReader in(bytes);
  if (in.Get<uint8_t>() != kVersion)
    return absl::InvalidArgumentError("a pack of a job's rows by another version of the program");
  const uint64_t num_rows = in.GetVarint();
  const uint64_t num_shares = in.GetVarint();
  const uint64_t num_limits = in.GetVarint();
  if (num_rows > kMostRows || num_shares > kMostShares || num_limits > in.remaining()) return damaged;
  struct Limit {
    Timestamp at;
    float cpu_cores, memory_bytes;
  };
  std::vector<Limit> limits(num_limits);
  for (Limit& limit : limits) {
    limit.at.us = in.Get<int64_t>();
    limit.cpu_cores = in.Get<float>();
    limit.memory_bytes = in.Get<float>();
    if (!IsAmount(limit.cpu_cores) || !IsAmount(limit.memory_bytes)) return damaged;
  }
  if (in.failed()) return damaged;
  DayRows rows;
  if (!Decompress(bytes.substr(bytes.size() - in.remaining()), num_rows, num_shares, rows)) return damaged;
  if (!IsPossible(rows)) return damaged;
  const auto known = [](float amount) { return amount >= 0 ? std::optional(amount) : std::nullopt; };
  for (const Limit& limit : limits)
    store.OnLimit(job, limit.at, known(limit.cpu_cores), known(limit.memory_bytes));
  store.AddRows(job, day, rows);
  return absl::OkStatus();
}

}  // namespace taut::tools
