// What a column of a Parquet file holds.
#pragma once

#include <cstdint>
#include <string>

namespace taut {

enum class ParquetKind : uint8_t {
  kText,        // UTF-8
  kDecimal,     // a whole number of units of 10^-scale: every int64 fits
  kTimeMillis,  // milliseconds since 1970, UTC
};

struct ParquetColumn {
  std::string name;
  ParquetKind kind = ParquetKind::kText;
  bool optional = false;  // has nulls
  int scale = 0;          // of kDecimal; at most kDecimalDigits
};

// Of a decimal: an int64 has at most 19 digits. Their file type is an array of as many bytes as these
// take, since INT64 may hold 18 only.
inline constexpr int kDecimalDigits = 19, kDecimalBytes = 9;

}  // namespace taut
