// Encodes Parquet's hybrid of run lengths and bit packing, for definition levels and dictionary indices.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace taut {

// Returns the number of bits that represent every number below `count`; at least 1.
int BitWidthOf(uint64_t count);

// Appends the values. A run of at least 8 equal values is stored as its length and value. Other values are
// packed in groups of 8, lowest bit first; the last group is filled up with 0. O(n). REQUIRES: each value
// fits into `width` bits, 1 <= width <= 32.
void AppendRunLengths(std::span<const uint32_t> values, int width, std::string* out);

}  // namespace taut
