// Packed rows of JobDayStore, one day at a time, in memory or in an unlinked temporary file.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/model/usage.h"

namespace taut::tools {

// A usage row. The buffer that contains the row determines its day. Absent values are kAbsent.
struct RowRecord {
  uint32_t job = 0;
  uint32_t task = 0;
  uint32_t start_us = 0;       // time since the start of the window
  uint16_t window_in_day = 0;  // number of the window, in [0, 287]
  uint16_t num_shares = 0;     // number of RowShares of the CPU distribution; 0: no distribution
  float seconds = 0;
  float cpu_mean = kAbsent;
  float cpu_peak = kAbsent;
  float memory_mean = kAbsent;
  float memory_peak = kAbsent;
  float cpu_limit = kAbsent;
  float memory_limit = kAbsent;
  uint32_t oom_kills = kNotTold;

  static constexpr uint32_t kNotTold = UINT32_MAX;
};
static_assert(sizeof(RowRecord) == 48);

// Part of a row's time: (share_minus_1 + 1) / 65536 of its seconds at `bucket`. The parts of a row add up to
// 65536.
struct RowShare {
  static constexpr double kWhole = 65536;
  uint16_t bucket = 0;
  uint16_t share_minus_1 = 0;

  double fraction() const { return (share_minus_1 + 1) / kWhole; }
  auto operator<=>(const RowShare&) const = default;
};

// Appends to `out` the distribution of one unit of time over the CPU grid. Samples are assumed to be uniform
// between two neighbouring percentiles, and equal to the first or last percentile outside the range of
// `fractions`. `values` should ascend: a value smaller than the previous one is replaced by the previous one.
// Shares are in bucket order. Shares below 1/131072 are merged into a neighbour, and at most Grid::Cpu().size()
// shares are appended. REQUIRES: both spans have the same size >= 1.
void SpreadPercentiles(std::span<const float> values, std::span<const float> fractions,
                       std::vector<RowShare>& out);
// Returns the mean of the distribution that SpreadPercentiles() appends.
double MeanOfPercentiles(std::span<const float> values, std::span<const float> fractions);

// An append-only array whose elements never move. Growing such an array needs no copies and no doubled capacity.
template <typename T, size_t kChunk>
class ChunkedArray {
 public:
  void PushBack(const T& value) {
    if (size_ % kChunk == 0) chunks_.push_back(std::make_unique_for_overwrite<T[]>(kChunk));
    chunks_.back()[size_++ % kChunk] = value;
  }
  void AppendTo(std::vector<T>& out) const {
    for (size_t i = 0; i < chunks_.size(); ++i) {
      const T* chunk = chunks_[i].get();
      out.insert(out.end(), chunk, chunk + std::min(kChunk, size_ - i * kChunk));
    }
  }
  size_t size() const { return size_; }
  size_t bytes() const { return chunks_.size() * kChunk * sizeof(T); }
  void Clear() {
    chunks_.clear();
    size_ = 0;
  }

 private:
  std::vector<std::unique_ptr<T[]>> chunks_;
  size_t size_ = 0;
};

// Rows of one day in order of arrival. The shares of row i follow the shares of row i - 1.
struct DayRows {
  std::vector<RowRecord> rows;
  std::vector<RowShare> shares;
};

// Packs a row, and sets `shares` to its CPU distribution. If the source has only the mean or only the
// peak of a resource, the value is used for both.
RowRecord PackRow(const UsageRow& row, std::vector<RowShare>& shares);

// Compresses rows by columns.
std::string Compress(const DayRows& rows);
// Appends to `out` the rows that Compress() packed. Returns false for damaged bytes. Memory: the rows.
bool Decompress(std::string_view packed, uint64_t num_rows, uint64_t num_shares, DayRows& out);

// A temporary file without a name, which the system deletes when the process ends for any reason. Not thread-safe.
class SpillFile {
 public:
  struct Run {
    uint64_t offset = 0;
    uint64_t packed_bytes = 0;
    uint64_t rows = 0, shares = 0;
  };

  explicit SpillFile(std::string directory) : directory_(std::move(directory)) {}
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // Appends a compressed run. The first call creates the file. Returns ResourceExhausted if the disk is full, and
  // Unavailable for other errors.
  absl::StatusOr<Run> Append(const DayRows& day);
  // Appends the rows of a run to `out`. Returns Unavailable for a read error, and DataLoss for damaged data.
  absl::Status Read(const Run& run, DayRows& out) const;
  uint64_t bytes() const { return end_; }

 private:
  absl::Status Open();

  std::string directory_;
  int fd_ = -1;
  uint64_t end_ = 0;
};

}  // namespace taut::tools
