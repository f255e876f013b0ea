// Types of the columns of a Parquet file.
#pragma once

#include <cstdint>
#include <string>

namespace taut {

enum class ParquetKind : uint8_t {
  kText,        // UTF-8
  kDecimal,     // an integer in units of 10^-scale; any int64
  kTimeMillis,  // milliseconds since 1970, UTC
};

struct ParquetColumn {
  std::string name;
  ParquetKind kind = ParquetKind::kText;
  bool optional = false;  // true if the column may contain nulls
  int scale = 0;          // digits after the point, for kDecimal; at most kDecimalDigits
};

// Precision of a decimal: an int64 has at most 19 digits. Parquet allows INT64 for 18 digits only, so the
// file type is an array of the bytes that 19 digits need.
inline constexpr int kDecimalDigits = 19, kDecimalBytes = 9;

}  // namespace taut
