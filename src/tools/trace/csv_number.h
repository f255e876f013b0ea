// Parses numbers in CSV fields of known length, 16 bytes at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE4_1__
#include <immintrin.h>
#endif

namespace taut::tools {

// Number of bytes after a field that must be readable.
inline constexpr size_t kNumberPadding = 16;

enum class NumberKind : uint8_t { kNumber, kEmpty, kBad };

// Parse text of any length, with optional blanks around the number. Return kBad if the text is not a decimal
// number, or if the number is not finite or is out of range.
NumberKind ParseDecimalSlow(const char* begin, const char* end, double& out);
NumberKind ParseIntegerSlow(const char* begin, const char* end, int64_t& out);

#ifdef __SSE4_1__
namespace csv_internal {

// Byte shuffle for a text of `size` bytes. Moves the digits to the right end of 16 bytes, drops the byte at `dot`
// (16: no dot), and sets the other bytes to 0.
struct Shuffle {
  alignas(16) uint8_t from[16];
};
struct ShuffleTable {
  Shuffle of[17][17];  // shuffles, indexed by [dot][size]
};
constexpr ShuffleTable MakeShuffles() {
  ShuffleTable table{};
  for (int dot = 0; dot <= 16; ++dot) {
    for (int size = 0; size <= 16; ++size) {
      const int free = 16 - size + (dot < size ? 1 : 0);
      for (int i = 0; i < 16; ++i) {
        const int digit = i - free;
        const int from = digit < dot ? digit : digit + 1;
        table.of[dot][size].from[i] = static_cast<uint8_t>(digit < 0 ? 0x80 : from);
      }
    }
  }
  return table;
}
inline constexpr ShuffleTable kShuffles = MakeShuffles();

// Converts the shuffled digits of `raw` to a number. Returns false if a byte is not a digit.
inline bool Digits(__m128i raw, size_t dot, size_t size, uint64_t& value) {
  const __m128i shuffle = _mm_load_si128(reinterpret_cast<const __m128i*>(kShuffles.of[dot][size].from));
  const __m128i digits = _mm_shuffle_epi8(_mm_sub_epi8(raw, _mm_set1_epi8('0')), shuffle);
  const __m128i over = _mm_subs_epu8(digits, _mm_set1_epi8(9));
  if (!_mm_testz_si128(over, over)) [[unlikely]]
    return false;
  const __m128i pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010A));  // 10 a + b
  const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x00010064));  // 100 a + b
  const __m128i packed = _mm_packus_epi32(fours, fours);
  const __m128i eights = _mm_madd_epi16(packed, _mm_set1_epi32(0x00012710));  // 10000 a + b
  const auto both = static_cast<uint64_t>(_mm_cvtsi128_si64(eights));
  value = (both & 0xFFFFFFFFU) * 100'000'000 + (both >> 32);
  return true;
}

// Powers of ten up to 10^15 and integers of up to 15 digits are exact as double, so a single division rounds
// correctly.
inline constexpr double kTens[16] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

}  // namespace csv_internal
#endif

// Parses the number that fills [begin, end), and rounds it correctly. The number must be finite and >= 0. Returns
// kEmpty for empty text, and kBad for a negative number. REQUIRES (also below): kNumberPadding bytes after `end`
// are readable.
inline NumberKind ParseDecimal(const char* begin, const char* end, double& out) {
#ifdef __SSE4_1__
  const auto size = static_cast<size_t>(end - begin);
  if (size - 1 < 16) [[likely]] {
    const __m128i raw = _mm_loadu_si128(reinterpret_cast<const __m128i*>(begin));
    const auto dots = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(raw, _mm_set1_epi8('.'))));
    const auto dot = static_cast<size_t>(std::countr_zero((dots & ((1U << size) - 1)) | 1U << 16));
    const size_t fraction = dot < size ? size - dot - 1 : 0;
    uint64_t value = 0;
    if ((size != 1 || dot != 0) && csv_internal::Digits(raw, dot, size, value)) [[likely]] {
      out = static_cast<double>(value) / csv_internal::kTens[fraction];
      return NumberKind::kNumber;
    }
  }
#endif
  return ParseDecimalSlow(begin, end, out);
}

// Parses the integer with optional sign that fills [begin, end).
inline NumberKind ParseInteger(const char* begin, const char* end, int64_t& out) {
#ifdef __SSE4_1__
  const auto size = static_cast<size_t>(end - begin);
  uint64_t value = 0;
  if (size - 1 < 16 && csv_internal::Digits(_mm_loadu_si128(reinterpret_cast<const __m128i*>(begin)), 16,
                                            size, value)) [[likely]] {
    out = static_cast<int64_t>(value);
    return NumberKind::kNumber;
  }
#endif
  return ParseIntegerSlow(begin, end, out);
}

// Parses a number that rarely changes between rows, such as a limit. Repeats the previous result if the text
// equals the previous text.
class RepeatedDecimal {
 public:
  NumberKind Parse(const char* begin, const char* end, double& out) {
#ifdef __SSE4_1__
    const auto size = static_cast<size_t>(end - begin);
    if (size == size_) {
      const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(begin));
      const __m128i known = _mm_load_si128(reinterpret_cast<const __m128i*>(text_));
      const auto same = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(text, known)));
      if ((~same & ((1U << size) - 1)) == 0) {
        out = value_;
        return NumberKind::kNumber;
      }
    }
    const NumberKind kind = ParseDecimal(begin, end, out);
    if (kind == NumberKind::kNumber && size <= sizeof(text_)) {
      std::memcpy(text_, begin, sizeof(text_));
      size_ = size;
      value_ = out;
    }
    return kind;
#else
    return ParseDecimal(begin, end, out);
#endif
  }

 private:
  alignas(16) char text_[16] = {};
  size_t size_ = SIZE_MAX;  // size of the previous text, at most 16; SIZE_MAX: none
  double value_ = 0;
};

}  // namespace taut::tools
