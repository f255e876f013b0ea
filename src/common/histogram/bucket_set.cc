// Implements the slow paths of the sparse array: insertion, growth, copies, and the record on disk.
#include "common/histogram/bucket_set.h"

#include <cmath>
#include <string_view>

namespace taut {

Bucket BucketFloats::Lowest() const {
  assert(!empty());
  int w = 0;
  while (words_[w] == 0) ++w;
  return static_cast<Bucket>(w * 64 + std::countr_zero(words_[w]));
}

Bucket BucketFloats::Highest() const {
  assert(!empty());
  int w = kWords - 1;
  while (words_[w] == 0) --w;
  return static_cast<Bucket>(w * 64 + 63 - std::countl_zero(words_[w]));
}

void BucketFloats::Insert(Bucket b) {
  assert(b < Grid::kMaxBuckets);
  // Grow the block by half, but by at most 8 rows: a job has tens of buckets, and with 100,000 jobs each spare row
  // costs megabytes.
  if (size_ == capacity_) Reallocate(capacity_ + std::clamp<size_t>(capacity_ / 2, 4, 8));
  float* const row = values_.get() + RankOf(b) * stride_;
  float* const end = values_.get() + floats();
  std::memmove(row + stride_, row, sizeof(float) * static_cast<size_t>(end - row));
  std::fill_n(row, stride_, 0.0F);
  words_[b / 64] |= uint64_t{1} << (b % 64);
  for (int w = b / 64 + 1; w < kWords; ++w) ++before_[w];
  ++size_;
}

void BucketFloats::Reserve(int buckets) {
  if (buckets > capacity_) Reallocate(static_cast<size_t>(buckets));
}

void BucketFloats::Reallocate(size_t rows) {
  rows = std::min<size_t>(rows, Grid::kMaxBuckets);
  if (rows == 0) {
    values_.reset();
  } else {
    std::unique_ptr<float[]> block(new float[rows * stride_]);
    std::copy_n(values_.get(), floats(), block.get());
    values_ = std::move(block);
  }
  capacity_ = static_cast<uint16_t>(rows);
}

void BucketFloats::CopyFrom(const BucketFloats& other) {
  std::copy(std::begin(other.words_), std::end(other.words_), words_);
  std::copy(std::begin(other.before_), std::end(other.before_), before_);
  Reallocate(other.size_);
  size_ = other.size_;
  std::copy_n(other.values_.get(), floats(), values_.get());
}

void BucketFloats::Swap(BucketFloats& other) noexcept {
  std::swap(words_, other.words_);
  std::swap(values_, other.values_);
  std::swap(before_, other.before_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(stride_, other.stride_);
}

void BucketFloats::Save(ByteWriter& out) const {
  out.PutVarint(size_);
  int next = 0;  // lowest bucket that can follow
  ForEach([&](Bucket b, const float*) {
    out.PutVarint(static_cast<uint64_t>(b - next));
    next = b + 1;
  });
  out.PutString({reinterpret_cast<const char*>(values_.get()), floats() * sizeof(float)});
}

absl::Status BucketFloats::Load(ByteReader& in, int grid_size) {
  assert(empty());
  BucketFloats loaded(stride_);
  const uint64_t size = in.GetVarint();
  if (size > static_cast<uint64_t>(grid_size)) return absl::DataLossError("more buckets than the grid");
  uint64_t next = 0;
  for (uint64_t i = 0; i < size; ++i) {
    const uint64_t gap = in.GetVarint();
    if (gap >= static_cast<uint64_t>(grid_size) - next)
      return absl::DataLossError("a bucket beyond the grid");
    next += gap;
    loaded.words_[next / 64] |= uint64_t{1} << (next % 64);
    ++next;
  }
  const std::string_view raw = in.GetString();
  if (absl::Status s = in.status("the buckets of a histogram"); !s.ok()) return s;
  if (raw.size() != size * stride_ * sizeof(float))
    return absl::DataLossError("wrong number of bucket values");
  loaded.Reserve(static_cast<int>(size));
  loaded.size_ = static_cast<uint16_t>(size);
  uint16_t before = 0;
  for (int w = 0; w < kWords; ++w) {
    loaded.before_[w] = before;
    before = static_cast<uint16_t>(before + std::popcount(loaded.words_[w]));
  }
  if (size > 0) std::memcpy(loaded.values_.get(), raw.data(), raw.size());
  for (const float v : loaded.values()) {
    if (!(v >= 0 && std::isfinite(v))) return absl::DataLossError("a bucket value that is not a weight");
  }
  Swap(loaded);
  return absl::OkStatus();
}

bool operator==(const BucketFloats& a, const BucketFloats& b) {
  return a.stride_ == b.stride_ && std::equal(std::begin(a.words_), std::end(a.words_), b.words_) &&
         (a.empty() || std::memcmp(a.values_.get(), b.values_.get(), sizeof(float) * a.floats()) == 0);
}

}  // namespace taut
