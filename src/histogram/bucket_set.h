// An ordered sparse array over a grid: a bitmap says which buckets are there, their values lie packed and ordered.
// Finding a bucket's place is a popcount (rank), not a search. Rows of `stride` floats serve several decay rates at
// once (stride 1: a plain histogram).
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>

#include "histogram/grid.h"

namespace taut {

class BucketFloats {
 public:
  explicit BucketFloats(int stride = 1);
  // Copyable and movable.

  bool empty() const;
  int size() const;  // buckets present
  int stride() const;
  bool Contains(Bucket b) const;
  // The row of `b`, inserted as zeros if absent. Pointers die at the next insertion or erasure.
  float* FindOrInsert(Bucket b);
  // nullptr if absent.
  const float* Find(Bucket b) const;
  Bucket Lowest() const;   // REQUIRES: !empty()
  Bucket Highest() const;  // REQUIRES: !empty()
  // All rows, packed in ascending bucket order: size() * stride() floats.
  std::span<float> values();
  std::span<const float> values() const;
  // fn(Bucket, const float* row) in ascending / descending order; Descending stops when fn returns false.
  template <typename Fn> void ForEach(Fn&& fn) const;
  template <typename Fn> void Descending(Fn&& fn) const;
  // Drops every bucket for which drop(Bucket, const float* row) is true.
  template <typename Fn> void EraseIf(Fn&& drop);
  void Clear();
  size_t heap_bytes() const;
};

}  // namespace taut
