// Parquet's hybrid of run lengths and packed bits, for definition levels and indices into a dictionary.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace taut {

// Bits that hold every number below `count`; at least 1.
int BitWidthOf(uint64_t count);

// Appends the values: a run of 8 or more equal ones as its length and value, others packed in groups of 8,
// lowest bit first, the last group filled with 0. O(n). REQUIRES: each value fits into `width` bits, 1 <=
// width <= 32.
void AppendRunLengths(std::span<const uint32_t> values, int width, std::string* out);

}  // namespace taut
