// Numbers out of CSV fields: decimal text of known length, 16 bytes at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace taut {

// Bytes that must be readable behind a field.
inline constexpr size_t kNumberPadding = 16;

enum class NumberKind : uint8_t { kNumber, kEmpty, kBad };

// Blanks around are allowed. kBad: not a decimal number, not finite, or out of range.
NumberKind ParseDecimalSlow(const char* begin, const char* end, double& out);
NumberKind ParseIntegerSlow(const char* begin, const char* end, int64_t& out);

namespace csv_internal {

#ifdef __SSE2__
__extension__ using Text = unsigned __int128;
#endif

// The value of 8 digits given as values 0..9, the first in the lowest byte.
constexpr uint64_t EightDigits(uint64_t v) {
  v = (v * 10) + (v >> 8);
  v = ((v & 0x00FF00FF00FF00FFU) * 0x00640001U) >> 16;
  return ((v & 0x0000FFFF0000FFFFU) * 0x271000000001U) >> 32;
}
constexpr bool AllDigits(uint64_t v) { return (((v + 0x7676767676767676U) | v) & 0x8080808080808080U) == 0; }

// Both powers and all numbers of 15 digits are exact doubles, so one division rounds correctly.
inline constexpr double kTens[16] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

}  // namespace csv_internal

// The finite number >= 0 that fills [begin, end), correctly rounded. Empty is kEmpty, a negative one kBad.
inline NumberKind ParseDecimal(const char* begin, const char* end, double& out) {
#ifdef __SSE2__
  const size_t size = static_cast<size_t>(end - begin);
  if (size - 1 < 16) [[likely]] {
    const __m128i raw = _mm_loadu_si128(reinterpret_cast<const __m128i*>(begin));
    const auto dots = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(raw, _mm_set1_epi8('.')))) &
                      ((1U << size) - 1);
    csv_internal::Text text;
    const __m128i digits = _mm_xor_si128(raw, _mm_set1_epi8('0'));
    std::memcpy(&text, &digits, sizeof(text));
    size_t fraction = 0, count = size;
    if (dots != 0) {
      const auto dot = static_cast<unsigned>(std::countr_zero(dots));
      fraction = size - dot - 1;
      --count;
      const csv_internal::Text whole = text & ((csv_internal::Text{1} << (8 * dot)) - 1);
      text = whole | (((text >> (8 * dot)) >> 8) << (8 * dot));
    }
    if (count != 0 && (dots == 0 || count < 16)) [[likely]] {
      text <<= 8 * (16 - count);
      const auto high = static_cast<uint64_t>(text), low = static_cast<uint64_t>(text >> 64);
      if (csv_internal::AllDigits(high) && csv_internal::AllDigits(low)) [[likely]] {
        const uint64_t value = csv_internal::EightDigits(high) * 100'000'000 + csv_internal::EightDigits(low);
        out = static_cast<double>(value) / csv_internal::kTens[fraction];
        return NumberKind::kNumber;
      }
    }
  }
#endif
  return ParseDecimalSlow(begin, end, out);
}

// The integer that fills [begin, end), with a sign if need be.
inline NumberKind ParseInteger(const char* begin, const char* end, int64_t& out) {
#ifdef __SSE2__
  const size_t size = static_cast<size_t>(end - begin);
  if (size - 1 < 16) [[likely]] {
    csv_internal::Text text;
    const __m128i digits =
        _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(begin)), _mm_set1_epi8('0'));
    std::memcpy(&text, &digits, sizeof(text));
    text <<= 8 * (16 - size);
    const auto high = static_cast<uint64_t>(text), low = static_cast<uint64_t>(text >> 64);
    if (csv_internal::AllDigits(high) && csv_internal::AllDigits(low)) [[likely]] {
      out = static_cast<int64_t>(csv_internal::EightDigits(high) * 100'000'000 +
                                 csv_internal::EightDigits(low));
      return NumberKind::kNumber;
    }
  }
#endif
  return ParseIntegerSlow(begin, end, out);
}

}  // namespace taut
