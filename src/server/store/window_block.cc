#include "server/store/window_block.h"

#include <array>
#include <bit>
#include <iterator>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/strings.h"
#include "common/histogram/checkpoint.h"

namespace taut::server {
namespace {

constexpr uint32_t kAbsentBits = std::bit_cast<uint32_t>(kAbsent);

uint32_t Bits(float f) { return std::bit_cast<uint32_t>(f); }
bool Same(float a, float b) { return Bits(a) == Bits(b); }
bool Known(float f) { return Bits(f) != kAbsentBits; }

absl::Status WrongBlock(std::string_view what) { return absl::DataLossError(StrCat("a usage block ", what)); }

// Writes a window block: floats are stored in place.
class PlainWriter : public ByteWriter {
 public:
  using ByteWriter::ByteWriter;
  void PutFloat(float value) { Put(value); }
};
class PlainReader : public ByteReader {
 public:
  using ByteReader::ByteReader;
  float GetFloat() { return Get<float>(); }
};

// Writes a day block. Floats are stored separately, as planes: the first bytes of all floats, then the second
// bytes, and so on. zstd compresses single floats badly, but a day's exponents well.
class SplitWriter : public ByteWriter {
 public:
  using ByteWriter::ByteWriter;
  void PutFloat(float value) {
    for (size_t i = 0; i < sizeof(float); ++i)
      planes_[i].push_back(static_cast<char>(Bits(value) >> (8 * i)));
  }
  void AppendFloats(std::string* out) const {
    for (const std::string& plane : planes_) *out += plane;
  }

 private:
  std::array<std::string, sizeof(float)> planes_;
};
class SplitReader : public ByteReader {
 public:
  SplitReader(std::string_view shape, std::string_view planes) : ByteReader(shape), planes_(planes) {}
  float GetFloat() {
    const size_t floats = planes_.size() / sizeof(float);
    if (next_ >= floats) {
      ++next_;
      return 0;
    }
    uint32_t bits = 0;
    for (size_t i = 0; i < sizeof(float); ++i)
      bits |= uint32_t{static_cast<uint8_t>(planes_[i * floats + next_])} << (8 * i);
    ++next_;
    return std::bit_cast<float>(bits);
  }
  bool out_of_floats() const { return next_ * sizeof(float) > planes_.size(); }
  bool all_read() const { return remaining() == 0 && next_ * sizeof(float) == planes_.size(); }

 private:
  std::string_view planes_;
  size_t next_ = 0;
};

// Flags of the optional fields in a task's record. A peak that equals the mean, and a task number that follows the
// previous number, are not stored.
enum TaskFlags : uint8_t {
  kCpuMean = 1,
  kCpuPeak = 2,
  kCpuPeakIsMean = 4,
  kMemoryMean = 8,
  kMemoryPeak = 16,
  kMemoryPeakIsMean = 32,
  kTaskGap = 64,
  kMemoryNeeded = 128  // probed need; older versions lack it
};
// Flags of the optional fields in the record of a job's window.
enum WindowFlags : uint8_t { kCpuLimit = 1, kMemoryLimit = 2, kCpuThrottled = 4, kLoad = 8, kSignals = 16 };

// Whole seconds are encoded as 2 * weight, other weights as 1 and the float.
template <typename Writer>
void PutWeight(Writer& out, float weight) {
  constexpr float kLargestWhole = 1 << 24;
  if (weight >= 0 && weight < kLargestWhole) {
    const auto whole = static_cast<uint32_t>(weight);
    if (Same(static_cast<float>(whole), weight)) return out.PutVarint(uint64_t{whole} * 2);
  }
  out.PutVarint(1);
  out.PutFloat(weight);
}
template <typename Reader>
float GetWeight(Reader& in) {
  const uint64_t code = in.GetVarint();
  return (code & 1) != 0 ? in.GetFloat() : static_cast<float>(code / 2);
}

template <typename Writer>
void PutTask(Writer& out, const TaskWindow& t, uint32_t expected) {
  const bool cpu_same = Known(t.cpu_mean_cores) && Same(t.cpu_mean_cores, t.cpu_peak_cores);
  const bool memory_same = Known(t.memory_mean_bytes) && Same(t.memory_mean_bytes, t.memory_peak_bytes);
  uint8_t flags = 0;
  if (Known(t.cpu_mean_cores)) flags |= kCpuMean;
  if (Known(t.cpu_peak_cores)) flags |= cpu_same ? kCpuPeakIsMean : kCpuPeak;
  if (Known(t.memory_mean_bytes)) flags |= kMemoryMean;
  if (Known(t.memory_peak_bytes)) flags |= memory_same ? kMemoryPeakIsMean : kMemoryPeak;
  if (Known(t.memory_needed_bytes)) flags |= kMemoryNeeded;
  if (t.task != expected) flags |= kTaskGap;
  out.Put(flags);
  if ((flags & kTaskGap) != 0) out.PutVarint(t.task - expected);
  if ((flags & kCpuMean) != 0) out.PutFloat(t.cpu_mean_cores);
  if ((flags & kCpuPeak) != 0) out.PutFloat(t.cpu_peak_cores);
  if ((flags & kMemoryMean) != 0) out.PutFloat(t.memory_mean_bytes);
  if ((flags & kMemoryPeak) != 0) out.PutFloat(t.memory_peak_bytes);
  if ((flags & kMemoryNeeded) != 0) out.PutFloat(t.memory_needed_bytes);
}
template <typename Reader>
TaskWindow GetTask(Reader& in, uint64_t expected) {
  TaskWindow t;
  const auto flags = in.template Get<uint8_t>();
  t.task = static_cast<uint32_t>(expected + ((flags & kTaskGap) != 0 ? in.GetVarint() : 0));
  if ((flags & kCpuMean) != 0) t.cpu_mean_cores = in.GetFloat();
  if ((flags & kCpuPeak) != 0) t.cpu_peak_cores = in.GetFloat();
  if ((flags & kCpuPeakIsMean) != 0) t.cpu_peak_cores = t.cpu_mean_cores;
  if ((flags & kMemoryMean) != 0) t.memory_mean_bytes = in.GetFloat();
  if ((flags & kMemoryPeak) != 0) t.memory_peak_bytes = in.GetFloat();
  if ((flags & kMemoryPeakIsMean) != 0) t.memory_peak_bytes = t.memory_mean_bytes;
  if ((flags & kMemoryNeeded) != 0) t.memory_needed_bytes = in.GetFloat();
  return t;
}

template <typename Writer>
void PutWindow(Writer& out, const JobWindow& w, std::span<const TaskWindow> tasks,
               std::span<const BucketWeight> buckets, std::span<const NamedSignal> signals) {
  uint8_t flags = 0;
  if (Known(w.cpu_limit_cores)) flags |= kCpuLimit;
  if (Known(w.memory_limit_bytes)) flags |= kMemoryLimit;
  if (Known(w.cpu_throttled)) flags |= kCpuThrottled;
  if (Known(w.load)) flags |= kLoad;
  if (w.num_signals > 0) flags |= kSignals;
  out.Put(flags);
  if ((flags & kCpuLimit) != 0) out.PutFloat(w.cpu_limit_cores);
  if ((flags & kMemoryLimit) != 0) out.PutFloat(w.memory_limit_bytes);
  if ((flags & kCpuThrottled) != 0) out.PutFloat(w.cpu_throttled);
  if ((flags & kLoad) != 0) out.PutFloat(w.load);
  if ((flags & kSignals) != 0) out.PutVarint(w.num_signals);
  for (const NamedSignal& s : signals.subspan(w.first_signal, w.num_signals)) {
    out.PutString(s.name);
    out.PutFloat(s.value);
  }
  out.PutVarint(w.num_tasks);
  uint32_t expected = 0;
  for (const TaskWindow& t : tasks.subspan(w.first_task, w.num_tasks)) {
    PutTask(out, t, expected);
    expected = t.task + 1;
  }
  out.PutVarint(w.num_buckets);
  uint32_t next = 0;
  for (const BucketWeight& b : buckets.subspan(w.first_bucket, w.num_buckets)) {
    out.PutVarint(b.bucket - next);
    PutWeight(out, b.weight);
    next = b.bucket + 1U;
  }
}

// Adds tasks and buckets to `out`; the window's offsets refer to these vectors. Stops at the first invalid
// count.
template <typename Reader>
JobWindow GetWindow(Reader& in, WindowId window, std::vector<TaskWindow>& tasks,
                    std::vector<BucketWeight>& buckets, std::vector<NamedSignal>& signals) {
  JobWindow w;
  w.window = window;
  const auto flags = in.template Get<uint8_t>();
  if ((flags & kCpuLimit) != 0) w.cpu_limit_cores = in.GetFloat();
  if ((flags & kMemoryLimit) != 0) w.memory_limit_bytes = in.GetFloat();
  if ((flags & kCpuThrottled) != 0) w.cpu_throttled = in.GetFloat();
  if ((flags & kLoad) != 0) w.load = in.GetFloat();
  w.first_signal = static_cast<uint32_t>(signals.size());
  for (uint64_t left = (flags & kSignals) != 0 ? in.GetVarint() : 0; left > 0 && !in.failed(); --left) {
    const std::string_view name = in.GetString();
    signals.push_back({std::string(name), in.GetFloat()});
  }
  w.num_signals = static_cast<uint32_t>(signals.size()) - w.first_signal;
  w.first_task = static_cast<uint32_t>(tasks.size());
  w.first_bucket = static_cast<uint32_t>(buckets.size());
  uint64_t expected = 0;
  for (uint64_t left = in.GetVarint(); left > 0 && !in.failed(); --left) {
    tasks.push_back(GetTask(in, expected));
    expected = uint64_t{tasks.back().task} + 1;
  }
  uint32_t next = 0;
  for (uint64_t left = in.GetVarint(); left > 0 && !in.failed(); --left) {
    const auto bucket = static_cast<Bucket>(next + in.GetVarint());
    buckets.push_back({bucket, GetWeight(in)});
    next = bucket + 1U;
  }
  w.num_tasks = static_cast<uint32_t>(tasks.size()) - w.first_task;
  w.num_buckets = static_cast<uint32_t>(buckets.size()) - w.first_bucket;
  return w;
}

// Head of a window block: the block's window and chunk, and the offset of each job's record.
struct Entry {
  JobId job;
  uint64_t size;
};
absl::StatusOr<std::vector<Entry>> GetDirectory(ByteReader& in, WindowId window, uint32_t chunk) {
  const auto its_window = in.Get<int32_t>();
  const uint64_t its_chunk = in.GetVarint();
  const uint64_t count = in.GetVarint();
  if (in.failed()) return in.status("a usage block");
  if (its_window != window.index || its_chunk != chunk) return WrongBlock("is stored under the wrong key");
  if (count > kJobsPerChunk) return WrongBlock("has more jobs than a chunk");
  std::vector<Entry> entries;
  entries.reserve(count);
  const uint64_t first = uint64_t{chunk} * kJobsPerChunk;
  uint64_t next = first, bytes = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t job = next + in.GetVarint();
    const uint64_t size = in.GetVarint();
    if (in.failed() || job - first >= kJobsPerChunk || size > in.remaining())
      return WrongBlock("has an invalid directory");
    entries.push_back({JobId{static_cast<uint32_t>(job)}, size});
    next = job + 1;
    bytes += size;
  }
  if (bytes != in.remaining()) return WrongBlock("has another length than its directory");
  return entries;
}

// Copies the tasks, buckets and signals of window `w` to `out`; returns the window with offsets into `out`.
template <typename From, typename To>
JobWindow CopyTo(const From& from, JobWindow w, To& out) {
  const auto tasks = std::span(from.tasks).subspan(w.first_task, w.num_tasks);
  const auto buckets = std::span(from.cpu_buckets).subspan(w.first_bucket, w.num_buckets);
  w.first_task = static_cast<uint32_t>(out.tasks.size());
  w.first_bucket = static_cast<uint32_t>(out.cpu_buckets.size());
  out.tasks.insert(out.tasks.end(), tasks.begin(), tasks.end());
  out.cpu_buckets.insert(out.cpu_buckets.end(), buckets.begin(), buckets.end());
  const auto signals = std::span(from.signals).subspan(w.first_signal, w.num_signals);
  w.first_signal = static_cast<uint32_t>(out.signals.size());
  out.signals.insert(out.signals.end(), signals.begin(), signals.end());
  return w;
}

void CopyWindow(const JobDay& day, const JobWindow& window, JobDay& out) {
  out.windows.push_back(CopyTo(day, window, out));
}

}  // namespace

void AppendWindow(const ClosedWindow& closed, size_t index, JobDay& out) {
  out.windows.push_back(CopyTo(closed, closed.jobs[index].window, out));
  out.windows.back().window = closed.window;
}

void AppendJob(const JobDay& day, size_t index, ClosedWindow& out) {
  out.jobs.push_back({day.job, CopyTo(day, day.windows[index], out)});
}

JobDay MergedDay(const JobDay& first, const JobDay& second) {
  JobDay out;
  const JobDay& named = first.windows.empty() ? second : first;
  out.job = named.job;
  out.day = named.day;
  auto at = first.windows.begin();
  for (const JobWindow& w : second.windows) {
    for (; at != first.windows.end() && at->window < w.window; ++at) CopyWindow(first, *at, out);
    if (at == first.windows.end() || w.window < at->window) CopyWindow(second, w, out);
  }
  for (; at != first.windows.end(); ++at) CopyWindow(first, *at, out);
  return out;
}

std::vector<JobDay> MergedDays(std::vector<JobDay> first, std::vector<JobDay> second) {
  std::vector<JobDay> out;
  auto at = first.begin();
  for (JobDay& day : second) {
    for (; at != first.end() && at->day < day.day; ++at) out.push_back(std::move(*at));
    if (at != first.end() && at->day == day.day) {
      out.push_back(MergedDay(*at++, day));
    } else {
      out.push_back(std::move(day));
    }
  }
  std::move(at, first.end(), std::back_inserter(out));
  return out;
}

JobDay WindowsOf(const JobDay& day, WindowId from, WindowId to) {
  JobDay out;
  out.job = day.job;
  out.day = day.day;
  for (const JobWindow& w : day.windows) {
    if (!(w.window < from) && w.window < to) CopyWindow(day, w, out);
  }
  return out;
}

std::string EncodeWindowBlock(const ClosedWindow& closed, size_t begin, size_t end) {
  const uint32_t chunk = ChunkOf(closed.jobs[begin].job);
  std::string head, records;
  ByteWriter head_out(&head);
  PlainWriter out(&records);
  head_out.Put(closed.window.index);
  head_out.PutVarint(chunk);
  head_out.PutVarint(end - begin);
  uint32_t next = chunk * kJobsPerChunk;
  for (size_t i = begin; i < end; ++i) {
    const JobWindowData& job = closed.jobs[i];
    const size_t before = records.size();
    PutWindow(out, job.window, closed.tasks, closed.cpu_buckets, closed.signals);
    head_out.PutVarint(job.job.value - next);
    head_out.PutVarint(records.size() - before);
    next = job.job.value + 1;
  }
  head += records;
  // The block is not compressed, because it is written while a pass waits, and is soon converted to day blocks.
  return SealCheckpoint(head, CheckpointCompression::kNever);
}

absl::Status DecodeWindowBlock(std::string_view block, WindowId window, uint32_t chunk, ClosedWindow& out) {
  const absl::StatusOr<std::string> payload = OpenCheckpoint(block);
  if (!payload.ok()) return payload.status();
  PlainReader in(*payload);
  const absl::StatusOr<std::vector<Entry>> entries = GetDirectory(in, window, chunk);
  if (!entries.ok()) return entries.status();
  const size_t jobs = out.jobs.size(), tasks = out.tasks.size(), buckets = out.cpu_buckets.size(),
               signals = out.signals.size();
  for (const Entry& e : *entries) {
    const size_t before = in.remaining();
    out.jobs.push_back({e.job, GetWindow(in, window, out.tasks, out.cpu_buckets, out.signals)});
    if (!in.failed() && before - in.remaining() == e.size) continue;
    out.jobs.resize(jobs);
    out.tasks.resize(tasks);
    out.cpu_buckets.resize(buckets);
    out.signals.resize(signals);
    return WrongBlock("has an invalid record");
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> FindInWindowBlock(std::string_view block, WindowId window, JobId job, JobDay& out) {
  const absl::StatusOr<std::string> payload = OpenCheckpoint(block);
  if (!payload.ok()) return payload.status();
  PlainReader in(*payload);
  const absl::StatusOr<std::vector<Entry>> entries = GetDirectory(in, window, ChunkOf(job));
  if (!entries.ok()) return entries.status();
  size_t at = payload->size() - in.remaining();
  for (const Entry& e : *entries) {
    if (e.job == job) {
      PlainReader record(std::string_view(*payload).substr(at, e.size));
      out.windows.push_back(GetWindow(record, window, out.tasks, out.cpu_buckets, out.signals));
      if (!record.failed() && record.remaining() == 0) return true;
      out.windows.pop_back();
      return WrongBlock("has an invalid record");
    }
    at += e.size;
  }
  return false;
}

std::string EncodeDayBlock(const JobDay& day) {
  std::string payload, shape;
  ByteWriter head(&payload);
  SplitWriter out(&shape);
  int32_t next = day.day * kWindowsPerDay;
  for (const JobWindow& w : day.windows) {
    out.PutVarint(static_cast<uint64_t>(w.window.index - next));
    PutWindow(out, w, day.tasks, day.cpu_buckets, day.signals);
    next = w.window.index + 1;
  }
  head.PutVarint(day.job.value);
  head.Put(day.day);
  head.PutVarint(day.windows.size());
  head.PutString(shape);
  out.AppendFloats(&payload);
  return SealCheckpoint(payload, CheckpointCompression::kSmaller);
}

absl::Status DecodeDayBlock(std::string_view block, JobId job, int32_t day, WindowId from, WindowId to,
                            JobDay& out) {
  const absl::StatusOr<std::string> payload = OpenCheckpoint(block);
  if (!payload.ok()) return payload.status();
  ByteReader head(*payload);
  const uint64_t its_job = head.GetVarint();
  const auto its_day = head.Get<int32_t>();
  const uint64_t count = head.GetVarint();
  const std::string_view shape = head.GetString();
  if (head.failed() || count > kWindowsPerDay || head.remaining() % sizeof(float) != 0) {
    return WrongBlock("has an invalid header");
  }
  if (its_job != job.value || its_day != day) return WrongBlock("is stored under the wrong key");
  SplitReader in(shape, std::string_view(*payload).substr(payload->size() - head.remaining()));
  const int64_t first = int64_t{day} * kWindowsPerDay;
  int64_t next = first;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t gap = in.GetVarint();
    if (gap >= kWindowsPerDay || next + static_cast<int64_t>(gap) >= first + kWindowsPerDay) {
      return WrongBlock("has a window outside its day");
    }
    const WindowId window{static_cast<int32_t>(next + static_cast<int64_t>(gap))};
    if (window >= to) return absl::OkStatus();
    next = window.index + 1;
    const size_t tasks = out.tasks.size(), buckets = out.cpu_buckets.size(), signals = out.signals.size();
    const JobWindow w = GetWindow(in, window, out.tasks, out.cpu_buckets, out.signals);
    if (in.failed() || in.out_of_floats()) return WrongBlock("is truncated");
    if (window >= from) {
      out.windows.push_back(w);
    } else {
      out.tasks.resize(tasks);
      out.cpu_buckets.resize(buckets);
      out.signals.resize(signals);
    }
  }
  return in.all_read() ? absl::OkStatus() : WrongBlock("is longer than its header declares");
}

}  // namespace taut::server
