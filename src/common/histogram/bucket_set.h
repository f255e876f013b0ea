// An ordered sparse array over a grid. A bitmap marks the buckets that are present; their values are packed in
// ascending order. A popcount finds a bucket's position, without a search. A row contains `stride` floats, one per
// decay rate.
//
// The object is 88 bytes long. The heap block contains 4 * stride bytes per row and grows by half, by 4 to 8 rows
// at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "common/base/bytes.h"
#include "common/histogram/grid.h"

namespace taut {

class BucketFloats {
 public:
  explicit BucketFloats(int stride = 1) : stride_(static_cast<uint16_t>(stride)) {
    assert(stride > 0 && stride < 1024);
  }
  // A copy allocates exactly its content. A moved-from object is empty and usable.
  BucketFloats(const BucketFloats& other) : BucketFloats(other.stride_) { CopyFrom(other); }
  BucketFloats(BucketFloats&& other) noexcept : BucketFloats(other.stride_) { Swap(other); }
  BucketFloats& operator=(const BucketFloats& other) {
    if (this != &other) {
      BucketFloats copy(other);
      Swap(copy);
    }
    return *this;
  }
  BucketFloats& operator=(BucketFloats&& other) noexcept {
    Swap(other);
    return *this;
  }

  bool empty() const { return size_ == 0; }
  int size() const { return size_; }  // number of present buckets
  int stride() const { return stride_; }
  bool Contains(Bucket b) const { return (words_[b / 64] >> (b % 64) & 1) != 0; }
  // Returns the row of `b`; inserts zeros if the bucket is absent. The pointer is valid until the next
  // insertion or erasure. O(1) if present, else O(rows).
  float* FindOrInsert(Bucket b) {
    if (!Contains(b)) [[unlikely]] {
      Insert(b);
    }
    return values_.get() + RankOf(b) * stride_;
  }
  // Returns the row of `b`; nullptr if the bucket is absent.
  const float* Find(Bucket b) const { return Contains(b) ? values_.get() + RankOf(b) * stride_ : nullptr; }
  Bucket Lowest() const;   // REQUIRES: !empty()
  Bucket Highest() const;  // REQUIRES: !empty()
  // All rows, packed in ascending bucket order: size() * stride() floats.
  std::span<float> values() { return {values_.get(), floats()}; }
  std::span<const float> values() const { return {values_.get(), floats()}; }
  // Call fn(Bucket, const float* row) in ascending or descending order; Descending stops when fn returns
  // false.
  template <typename Fn>
  void ForEach(Fn&& fn) const;
  template <typename Fn>
  void Descending(Fn&& fn) const;
  // Removes every bucket for which drop(Bucket, const float* row) returns true. Shrinks the block when half
  // is unused.
  template <typename Fn>
  void EraseIf(Fn&& drop);
  void Clear() { *this = BucketFloats(stride_); }
  // Allocates room for `buckets` rows at once.
  void Reserve(int buckets);
  size_t heap_bytes() const { return sizeof(float) * capacity_ * stride_; }

  // Appends the buckets and their rows, bit for bit: about (1 + 4 * stride) bytes per bucket.
  void Save(ByteWriter& out) const;
  // Restores the buckets that Save wrote for this stride. REQUIRES: empty(). Returns DataLoss, and stays empty, if
  // the bytes end early, or contain a bucket at or above `grid_size`, or a value that is negative or not finite.
  absl::Status Load(ByteReader& in, int grid_size);

  // Compares stride, buckets and the bits of the values.
  friend bool operator==(const BucketFloats& a, const BucketFloats& b);

 private:
  static constexpr int kWords = (Grid::kMaxBuckets + 63) / 64;

  size_t floats() const { return size_t{size_} * stride_; }
  // Returns the number of present buckets below `b`, which is the row index of `b` if that bucket is present.
  size_t RankOf(Bucket b) const {
    const uint64_t below = words_[b / 64] & ((uint64_t{1} << (b % 64)) - 1);
    return before_[b / 64] + static_cast<size_t>(std::popcount(below));
  }
  void Insert(Bucket b);
  void Reallocate(size_t rows);
  void CopyFrom(const BucketFloats& other);
  void Swap(BucketFloats& other) noexcept;

  uint64_t words_[kWords] = {};
  std::unique_ptr<float[]> values_;
  uint16_t before_[kWords] = {};  // number of buckets present in the words below
  uint16_t size_ = 0;
  uint16_t capacity_ = 0;  // rows in the allocated block
  uint16_t stride_;
};

template <typename Fn>
void BucketFloats::ForEach(Fn&& fn) const {
  const float* row = values_.get();
  for (int w = 0; w < kWords; ++w) {
    for (uint64_t word = words_[w]; word != 0; word &= word - 1) {
      fn(static_cast<Bucket>(w * 64 + std::countr_zero(word)), row);
      row += stride_;
    }
  }
}

template <typename Fn>
void BucketFloats::Descending(Fn&& fn) const {
  const float* row = values_.get() + floats();
  for (int w = kWords - 1; w >= 0; --w) {
    uint64_t word = words_[w];
    while (word != 0) {
      const int bit = 63 - std::countl_zero(word);
      word ^= uint64_t{1} << bit;
      row -= stride_;
      if (!fn(static_cast<Bucket>(w * 64 + bit), row)) return;
    }
  }
}

template <typename Fn>
void BucketFloats::EraseIf(Fn&& drop) {
  const float* row = values_.get();
  float* kept = values_.get();
  uint16_t before = 0;
  for (int w = 0; w < kWords; ++w) {
    before_[w] = before;
    for (uint64_t word = words_[w]; word != 0; word &= word - 1) {
      const int bit = std::countr_zero(word);
      if (drop(static_cast<Bucket>(w * 64 + bit), row)) {
        words_[w] ^= uint64_t{1} << bit;
      } else {
        if (kept != row) std::memmove(kept, row, sizeof(float) * stride_);
        kept += stride_;
        ++before;
      }
      row += stride_;
    }
  }
  size_ = before;
  if (size_ <= capacity_ / 2) Reallocate(size_);
}

}  // namespace taut
