// Saves and loads samples.
#pragma once

#include <cstdint>

#include "common/base/bottom_k.h"
#include "common/base/bytes.h"

namespace taut::brain {

// Writes the values of a sample with their keys, ascending by key. T has Save(ByteWriter&).
template <typename T>
void SaveEntries(BottomK<T> sample, ByteWriter& out) {
  out.PutVarint(sample.Sort().size());
  for (const auto& [key, value] : sample.Sort()) {
    out.Put(key);
    value.Save(out);
  }
}

// Adds what SaveEntries wrote. Returns false for bytes that SaveEntries cannot have written. T has
// bool Load(ByteReader&), and kLeastBytes, the minimum stored size of a value.
template <typename T>
bool LoadEntries(ByteReader& in, BottomK<T>& sample) {
  const uint64_t size = in.GetVarint();
  if (in.failed() || size > in.remaining() / (sizeof(uint64_t) + T::kLeastBytes)) return false;
  for (uint64_t i = 0; i < size; ++i) {
    const auto key = in.Get<uint64_t>();
    T value;
    if (!value.Load(in)) return false;
    sample.Add(key, value);
  }
  return true;
}

}  // namespace taut::brain
