// Enum values of Parquet's metadata, as its specification assigns them.
#pragma once

#include <cstdint>

namespace taut::parquet_format {

// Values of the enum Type.
inline constexpr int32_t kInt64 = 2, kByteArray = 6, kFixedBytes = 7;
// Values of the enum FieldRepetitionType.
inline constexpr int32_t kRequired = 0, kOptional = 1;
// Values of the enum ConvertedType.
inline constexpr int32_t kUtf8 = 0, kDecimal = 5, kTimestampMillis = 9;
// Values of the enum Encoding.
inline constexpr int32_t kPlain = 0, kRle = 3, kRleDictionary = 8;
// Values of the enum CompressionCodec.
inline constexpr int32_t kZstd = 6;
// Values of the enum PageType.
inline constexpr int32_t kDataPage = 0, kDictionaryPage = 2;

}  // namespace taut::parquet_format
