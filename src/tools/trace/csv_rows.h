// Splits CSV text into rows and fields. All separators of a piece are found first, many bytes at a time; then
// the rows are visited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "absl/status/status.h"

namespace taut::tools {

// One line as fields: a view of the block and the index, valid during the call. A '\r' before the newline is
// not part of the line.
class CsvRow {
 public:
  // `ends` contains the end of each field, relative to `text`; ends[-1] is the byte before the line
  // (UINT32_MAX: none).
  CsvRow(const char* text, const uint32_t* ends, int size, uint64_t line)
      : text_(text), ends_(ends), size_(size), line_(line) {}

  int size() const { return size_; }
  const char* begin(int i) const { return text_ + static_cast<uint32_t>(ends_[i - 1] + 1); }
  const char* end(int i) const { return text_ + ends_[i]; }
  std::string_view operator[](int i) const { return {begin(i), static_cast<size_t>(end(i) - begin(i))}; }
  uint64_t line() const { return line_; }  // number in the file, from 1
  std::string_view text() const { return {begin(0), static_cast<size_t>(end(size_ - 1) - begin(0))}; }

 private:
  const char* text_;
  const uint32_t* ends_;
  int size_;
  uint64_t line_;
};

// Index of one piece of text: about 260 KiB, small enough for the second-level cache. Not thread-safe.
class CsvIndex {
 public:
  // With `quotes`, separators between double quotes are ignored. Newlines always end a line.
  explicit CsvIndex(char separator, bool quotes = false);

  // Calls take(const CsvRow&) -> absl::Status for every line that is not empty, until a call returns an error,
  // which is returned. `first_line` is the number of the first line. REQUIRES: `lines` ends in '\n' and has 64
  // readable bytes after its end.
  template <typename Take>
  absl::Status ForEachRow(std::string_view lines, uint64_t first_line, Take&& take) {
    uint64_t line = first_line;
    while (!lines.empty()) {
      const std::string_view piece = NextPiece(lines);
      const size_t n = Build(piece);
      if (absl::Status s = Walk(piece.data(), n, line, take); !s.ok()) return s;
      lines.remove_prefix(piece.size());
    }
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kPieceBytes = 16 * 1024;

  template <typename Take>
  absl::Status Walk(const char* text, size_t n, uint64_t& line, Take&& take) {
    uint32_t* ends = ends_.get() + 1;
    uint32_t at = 0;
    for (size_t i = 0; i < n; ++i, ++line) {
      const uint32_t last = lasts_[i];
      const uint32_t newline = ends[last];
      const auto begin = static_cast<uint32_t>(ends[static_cast<ptrdiff_t>(at) - 1] + 1);
      if (newline > begin && text[newline - 1] == '\r') [[unlikely]]
        --ends[last];
      if (ends[last] > begin) [[likely]] {
        absl::Status s = take(CsvRow(text, ends + at, static_cast<int>(last - at) + 1, line));
        if (!s.ok()) [[unlikely]]
          return s;
      }
      // Restore the end, because the next row begins after the newline, not after the '\r'.
      ends[last] = newline;
      at = last + 1;
    }
    return absl::OkStatus();
  }

  // Returns whole lines from the front of `lines`: about kPieceBytes, or one line that is longer than that.
  static std::string_view NextPiece(std::string_view lines);
  // Fills ends_, from its second entry on, with the positions of all separators and newlines. Fills lasts_
  // with the indices of the newlines in ends_. Returns the number of lines.
  size_t Build(std::string_view piece);
  size_t BuildPlain(std::string_view piece);
  void Reserve(size_t bytes);

  char separator_;
  bool quotes_;
  size_t capacity_ = 0;
  std::unique_ptr<uint32_t[]> ends_, lasts_;
};

}  // namespace taut::tools
