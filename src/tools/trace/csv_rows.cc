#include "tools/trace/csv_rows.h"

#include <bit>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace taut::tools {
namespace {

// Free elements at the end of the arrays, because positions are written eight at a time.
constexpr size_t kSlack = 64;

#ifdef __AVX2__
// Returns one bit per byte of `a` and `b`: 1 if the byte equals `byte`.
inline uint64_t Equal(__m256i a, __m256i b, __m256i byte) {
  return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, byte))) |
         static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, byte)))) << 32;
}
#endif

}  // namespace

CsvIndex::CsvIndex(char separator, bool quotes) : separator_(separator), quotes_(quotes) {
  Reserve(2 * kPieceBytes);
}

void CsvIndex::Reserve(size_t bytes) {
  if (bytes <= capacity_) return;
  capacity_ = bytes;
  ends_ = std::make_unique_for_overwrite<uint32_t[]>(capacity_ + kSlack);
  lasts_ = std::make_unique_for_overwrite<uint32_t[]>(capacity_ + kSlack);
  ends_[0] = UINT32_MAX;
}

std::string_view CsvIndex::NextPiece(std::string_view lines) {
  if (lines.size() <= kPieceBytes) return lines;
  const void* last = memrchr(lines.data(), '\n', kPieceBytes);
  if (last == nullptr) last = std::memchr(lines.data() + kPieceBytes, '\n', lines.size() - kPieceBytes);
  return lines.substr(0, static_cast<size_t>(static_cast<const char*>(last) - lines.data()) + 1);
}

size_t CsvIndex::Build(std::string_view piece) {
  Reserve(piece.size());
#ifdef __AVX2__
  if (quotes_ && std::memchr(piece.data(), '"', piece.size()) != nullptr) return BuildPlain(piece);
  uint32_t* const ends = ends_.get() + 1;
  uint32_t* const lasts = lasts_.get();
  uint32_t num_ends = 0;
  size_t num_lines = 0;
  const __m256i separator = _mm256_set1_epi8(separator_), newline = _mm256_set1_epi8('\n');
  for (size_t base = 0; base < piece.size(); base += 64) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(piece.data() + base));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(piece.data() + base + 32));
    uint64_t newlines = Equal(a, b, newline);
    uint64_t cuts = Equal(a, b, separator) | newlines;
    // Ignore matches in the readable bytes after the piece, which belong to no row.
    if (const size_t left = piece.size() - base; left < 64) {
      cuts &= (uint64_t{1} << left) - 1;
      newlines &= cuts;
    }
    for (; newlines != 0; newlines &= newlines - 1) {
      const uint64_t before = cuts & ((newlines & -newlines) - 1);
      lasts[num_lines++] = num_ends + static_cast<uint32_t>(std::popcount(before));
    }
    // Writing eight positions at a time is cheaper than a branch per position. The next write overwrites surplus
    // positions.
    const auto count = static_cast<uint32_t>(std::popcount(cuts));
    for (uint32_t done = 0; done < count; done += 8) {
      for (uint32_t i = 0; i < 8; ++i) {
        ends[num_ends + done + i] =
            static_cast<uint32_t>(base) + static_cast<uint32_t>(std::countr_zero(cuts));
        cuts &= cuts - 1;
      }
    }
    num_ends += count;
  }
  return num_lines;
#else
  return BuildPlain(piece);
#endif
}

size_t CsvIndex::BuildPlain(std::string_view piece) {
  uint32_t* const ends = ends_.get() + 1;
  uint32_t num_ends = 0;
  size_t num_lines = 0;
  bool inside = false;
  for (size_t i = 0; i < piece.size(); ++i) {
    const char c = piece[i];
    if (c == '\n') {
      inside = false;
      lasts_[num_lines++] = num_ends;
    } else if (c == '"') {
      inside = quotes_ && !inside;
      continue;
    } else if (c != separator_ || inside) {
      continue;
    }
    ends[num_ends++] = static_cast<uint32_t>(i);
  }
  return num_lines;
}

}  // namespace taut::tools
