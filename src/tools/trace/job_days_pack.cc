// Converts percentiles to bucket shares, and writes and reads runs of rows.
#include "tools/trace/job_days_pack.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "fmt/format.h"

namespace taut::tools {
namespace {

// Converts masses in bucket order to whole 65536ths. Rounds the running sum, not each mass, so that the shares add
// up exactly.
class ShareWriter {
 public:
  explicit ShareWriter(std::vector<RowShare>& out) : out_(out), first_(out.size()) {}

  void Add(Bucket bucket, double mass) {
    sum_ += mass;
    Give(bucket, static_cast<int32_t>(std::min(sum_, 1.0) * RowShare::kWhole + 0.5));
  }
  void Finish(Bucket last) { Give(last, static_cast<int32_t>(RowShare::kWhole)); }

 private:
  void Give(Bucket bucket, int32_t until) {
    const int32_t share = until - given_;
    if (share <= 0) return;
    given_ = until;
    if (out_.size() > first_ && out_.back().bucket == bucket) {
      out_.back().share_minus_1 = static_cast<uint16_t>(out_.back().share_minus_1 + share);
    } else {
      out_.push_back({bucket, static_cast<uint16_t>(share - 1)});
    }
  }

  std::vector<RowShare>& out_;
  size_t first_;
  double sum_ = 0;
  int32_t given_ = 0;
};

}  // namespace

void SpreadPercentiles(std::span<const float> values, std::span<const float> fractions,
                       std::vector<RowShare>& out) {
  assert(!values.empty() && values.size() == fractions.size());
  const Grid& grid = Grid::Cpu();
  // Clamp values to the grid's upper bound. Infinity would otherwise make the masses below it NaN.
  const auto in_grid = [&grid](double v) { return std::min(v, grid.upper_bounds().back()); };
  ShareWriter writer(out);
  double low = in_grid(values[0]);
  double fraction = fractions[0];
  Bucket bucket = grid.BucketOf(low);
  if (fraction > 0) writer.Add(bucket, fraction);
  for (size_t i = 1; i < values.size(); ++i) {
    const double high = std::max<double>(low, in_grid(values[i]));
    const double mass = std::max(0.0, double{fractions[i]} - fraction);
    const Bucket top = grid.BucketOf(high);
    if (top == bucket) {
      writer.Add(bucket, mass);
    } else {
      const double density = mass / (high - low);
      double from = low;
      for (; bucket < top; ++bucket) {
        writer.Add(bucket, (grid.UpperBound(bucket) - from) * density);
        from = grid.UpperBound(bucket);
      }
      writer.Add(top, (high - from) * density);
    }
    low = high;
    fraction = std::max<double>(fraction, fractions[i]);
  }
  writer.Finish(bucket);
}

double MeanOfPercentiles(std::span<const float> values, std::span<const float> fractions) {
  double mean = double{values.front()} * fractions.front() + double{values.back()} * (1.0 - fractions.back());
  for (size_t i = 1; i < values.size(); ++i) {
    mean += 0.5 * (double{values[i]} + values[i - 1]) * (double{fractions[i]} - fractions[i - 1]);
  }
  return mean;
}

namespace {

float OrAbsent(const std::optional<float>& v) { return v.value_or(kAbsent); }

}  // namespace

RowRecord PackRow(const UsageRow& row, std::vector<RowShare>& shares) {
  const WindowId window = WindowId::Of(row.start);
  RowRecord record{.job = row.job.value, .task = row.task};
  record.start_us = static_cast<uint32_t>(row.start.us - window.start_s() * kMicrosPerSecond);
  record.window_in_day = static_cast<uint16_t>(window.index - window.day() * kWindowsPerDay);
  record.seconds = static_cast<float>(static_cast<double>(row.end.us - row.start.us) / kMicrosPerSecond);
  record.cpu_mean = OrAbsent(row.cpu_mean_cores);
  record.cpu_peak = OrAbsent(row.cpu_max_cores);
  record.memory_mean = OrAbsent(row.memory_mean_bytes);
  record.memory_peak = OrAbsent(row.memory_peak_bytes);
  record.cpu_limit = OrAbsent(row.cpu_limit_cores);
  record.memory_limit = OrAbsent(row.memory_limit_bytes);
  record.oom_kills = row.oom_kills.value_or(RowRecord::kNotTold);
  shares.clear();
  if (!row.cpu_percentiles_cores.empty()) {
    SpreadPercentiles(row.cpu_percentiles_cores, row.cpu_fractions, shares);
    record.num_shares = static_cast<uint16_t>(shares.size());
    if (record.cpu_mean < 0) {
      record.cpu_mean = static_cast<float>(MeanOfPercentiles(row.cpu_percentiles_cores, row.cpu_fractions));
    }
    if (record.cpu_peak < 0) record.cpu_peak = row.cpu_percentiles_cores.back();
  }
  // If the source has only the mean or only the peak, use this value for both.
  if (record.cpu_peak < 0) record.cpu_peak = record.cpu_mean;
  if (record.cpu_mean < 0) record.cpu_mean = record.cpu_peak;
  if (record.memory_peak < 0) record.memory_peak = record.memory_mean;
  if (record.memory_mean < 0) record.memory_mean = record.memory_peak;
  return record;
}

namespace {

constexpr size_t kRowWords = sizeof(RowRecord) / sizeof(uint32_t);

// Columns compress better and faster than rows, because similar values are adjacent.
std::vector<uint32_t> ToColumns(const DayRows& day) {
  const size_t n = day.rows.size();
  std::vector<uint32_t> columns(n * kRowWords + day.shares.size());
  for (size_t i = 0; i < n; ++i) {
    uint32_t words[kRowWords];
    std::memcpy(words, &day.rows[i], sizeof(words));
    for (size_t c = 0; c < kRowWords; ++c) columns[c * n + i] = words[c];
  }
  if (!day.shares.empty()) {
    std::memcpy(columns.data() + n * kRowWords, day.shares.data(), day.shares.size() * sizeof(RowShare));
  }
  return columns;
}

void FromColumns(const std::vector<uint32_t>& columns, size_t n, size_t num_shares, DayRows& out) {
  const size_t first_row = out.rows.size();
  out.rows.resize(first_row + n);
  for (size_t i = 0; i < n; ++i) {
    uint32_t words[kRowWords];
    for (size_t c = 0; c < kRowWords; ++c) words[c] = columns[c * n + i];
    std::memcpy(&out.rows[first_row + i], words, sizeof(words));
  }
  const size_t first_share = out.shares.size();
  out.shares.resize(first_share + num_shares);
  if (num_shares > 0) {
    std::memcpy(static_cast<void*>(out.shares.data() + first_share), columns.data() + n * kRowWords,
                num_shares * sizeof(RowShare));
  }
}

absl::Status FileError(std::string_view doing, std::string_view directory, int error) {
  const std::string text = fmt::format("spilling folded rows to a temporary file in {}: {}: {}", directory,
                                       doing, strerror(error));
  if (error == ENOSPC || error == EDQUOT) {
    return absl::ResourceExhaustedError(text + "; free some space, or name another directory");
  }
  return absl::UnavailableError(text);
}

}  // namespace

SpillFile::~SpillFile() {
  if (fd_ >= 0) close(fd_);
}

absl::Status SpillFile::Open() {
  std::string path = directory_ + "/taut-rows-XXXXXX";
  fd_ = mkostemp(path.data(), O_CLOEXEC);
  if (fd_ < 0) return FileError("open", directory_, errno);
  unlink(path.c_str());
  return absl::OkStatus();
}

std::string Compress(const DayRows& rows) {
  const std::vector<uint32_t> columns = ToColumns(rows);
  const size_t raw_bytes = columns.size() * sizeof(uint32_t);
  std::string packed(ZSTD_compressBound(raw_bytes), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), columns.data(), raw_bytes, 1));
  return packed;
}

bool Decompress(std::string_view packed, uint64_t num_rows, uint64_t num_shares, DayRows& out) {
  std::vector<uint32_t> columns(num_rows * kRowWords + num_shares);
  const size_t raw_bytes = columns.size() * sizeof(uint32_t);
  const size_t size = ZSTD_decompress(columns.data(), raw_bytes, packed.data(), packed.size());
  if (ZSTD_isError(size) || size != raw_bytes) return false;
  FromColumns(columns, num_rows, num_shares, out);
  return true;
}

absl::StatusOr<SpillFile::Run> SpillFile::Append(const DayRows& day) {
  if (fd_ < 0) {
    if (absl::Status s = Open(); !s.ok()) return s;
  }
  const std::string packed = Compress(day);
  for (size_t done = 0; done < packed.size();) {
    const ssize_t n =
        pwrite(fd_, packed.data() + done, packed.size() - done, static_cast<off_t>(end_ + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      return FileError(fmt::format("write after {} bytes", end_ + done), directory_, n < 0 ? errno : ENOSPC);
    done += static_cast<size_t>(n);
  }
  const Run run{end_, packed.size(), day.rows.size(), day.shares.size()};
  end_ += packed.size();
  return run;
}

absl::Status SpillFile::Read(const Run& run, DayRows& out) const {
  std::string packed(run.packed_bytes, '\0');
  for (size_t done = 0; done < packed.size();) {
    const ssize_t n =
        pread(fd_, packed.data() + done, packed.size() - done, static_cast<off_t>(run.offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return FileError("read back", directory_, n < 0 ? errno : EIO);
    done += static_cast<size_t>(n);
  }
  if (!Decompress(packed, run.rows, run.shares, out)) {
    return absl::DataLossError(
        fmt::format("the temporary file in {} is damaged: checksum mismatch", directory_));
  }
  return absl::OkStatus();
}

}  // namespace taut::tools
