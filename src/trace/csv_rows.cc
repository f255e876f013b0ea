#include "trace/csv_rows.h"

#include <bit>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace taut {
namespace {

// Positions are written eight at a time, whatever their number.
constexpr size_t kSlack = 64;

#ifdef __AVX2__
// One bit for each of the 64 bytes at `p` that is a separator or a newline.
inline uint64_t CutsOf(const char* p, __m256i separator, __m256i newline) {
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32));
  const __m256i cut_a = _mm256_or_si256(_mm256_cmpeq_epi8(a, separator), _mm256_cmpeq_epi8(a, newline));
  const __m256i cut_b = _mm256_or_si256(_mm256_cmpeq_epi8(b, separator), _mm256_cmpeq_epi8(b, newline));
  return static_cast<uint32_t>(_mm256_movemask_epi8(cut_a)) |
         static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(cut_b))) << 32;
}
#endif

}  // namespace

CsvIndex::CsvIndex(char separator, bool quotes)
    : separator_(separator),
      quotes_(quotes),
      capacity_(2 * kPieceBytes),
      ends_(std::make_unique_for_overwrite<uint32_t[]>(capacity_ + kSlack)) {
  ends_[0] = UINT32_MAX;
}

std::string_view CsvIndex::NextPiece(std::string_view lines) {
  if (lines.size() <= kPieceBytes) return lines;
  const void* last = memrchr(lines.data(), '\n', kPieceBytes);
  if (last == nullptr) last = std::memchr(lines.data() + kPieceBytes, '\n', lines.size() - kPieceBytes);
  return lines.substr(0, static_cast<size_t>(static_cast<const char*>(last) - lines.data()) + 1);
}

size_t CsvIndex::Build(std::string_view piece) {
  if (piece.size() > capacity_) {
    capacity_ = piece.size();
    ends_ = std::make_unique_for_overwrite<uint32_t[]>(capacity_ + kSlack);
    ends_[0] = UINT32_MAX;
  }
  if (quotes_ && std::memchr(piece.data(), '"', piece.size()) != nullptr) return BuildQuoted(piece);
  uint32_t* out = ends_.get() + 1;
#ifdef __AVX2__
  const __m256i separator = _mm256_set1_epi8(separator_), newline = _mm256_set1_epi8('\n');
  for (size_t base = 0; base < piece.size(); base += 64) {
    uint64_t cuts = CutsOf(piece.data() + base, separator, newline);
    if (const size_t left = piece.size() - base; left < 64) cuts &= (uint64_t{1} << left) - 1;
    const int count = std::popcount(cuts);
    // Writing eight without asking is cheaper than a branch for each.
    for (int done = 0; done < count; done += 8) {
      for (int i = 0; i < 8; ++i) {
        out[done + i] = static_cast<uint32_t>(base) + static_cast<uint32_t>(std::countr_zero(cuts));
        cuts &= cuts - 1;
      }
    }
    out += count;
  }
#else
  for (size_t i = 0; i < piece.size(); ++i) {
    if (piece[i] == separator_ || piece[i] == '\n') *out++ = static_cast<uint32_t>(i);
  }
#endif
  return static_cast<size_t>(out - ends_.get()) - 1;
}

size_t CsvIndex::BuildQuoted(std::string_view piece) {
  uint32_t* out = ends_.get() + 1;
  bool inside = false;
  for (size_t i = 0; i < piece.size(); ++i) {
    const char c = piece[i];
    if (c == '"') inside = !inside;
    if (c == '\n') inside = false;
    if (c == '\n' || (c == separator_ && !inside)) *out++ = static_cast<uint32_t>(i);
  }
  return static_cast<size_t>(out - ends_.get()) - 1;
}

}  // namespace taut
