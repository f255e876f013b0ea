#include "common/parquet/run_lengths.h"

#include <algorithm>
#include <bit>

#include "common/base/bytes.h"

namespace taut {
namespace {

constexpr size_t kGroup = 8;

void AppendPacked(std::span<const uint32_t> values, int width, std::string* out) {
  if (values.empty()) return;
  const size_t groups = (values.size() + kGroup - 1) / kGroup;
  ByteWriter(out).PutVarint(groups << 1U | 1U);
  uint64_t bits = 0;
  int filled = 0;
  for (size_t i = 0; i < groups * kGroup; ++i) {
    bits |= uint64_t{i < values.size() ? values[i] : 0} << filled;
    for (filled += width; filled >= 8; filled -= 8) {
      *out += static_cast<char>(bits & 0xFFU);
      bits >>= 8U;
    }
  }
}

void AppendRun(uint32_t value, size_t length, int width, std::string* out) {
  ByteWriter(out).PutVarint(uint64_t{length} << 1U);
  for (int shift = 0; shift < width; shift += 8) *out += static_cast<char>(value >> shift & 0xFFU);
}

}  // namespace

int BitWidthOf(uint64_t count) { return count <= 2 ? 1 : std::bit_width(count - 1); }

void AppendRunLengths(std::span<const uint32_t> values, int width, std::string* out) {
  size_t packed_from = 0;  // first value that is not written yet
  for (size_t i = 0; i < values.size();) {
    size_t end = i + 1;
    while (end < values.size() && values[end] == values[i]) ++end;
    // Only the last group may be padded with zeros. The values before a run therefore fill their group with
    // the first values of the run.
    const size_t lacks = (kGroup - (i - packed_from) % kGroup) % kGroup;
    if (end - i >= lacks + kGroup) {
      AppendPacked(values.subspan(packed_from, i + lacks - packed_from), width, out);
      AppendRun(values[i], end - i - lacks, width, out);
      packed_from = end;
    }
    i = end;
  }
  AppendPacked(values.subspan(packed_from), width, out);
}

}  // namespace taut
