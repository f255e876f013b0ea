// Splits CSV text into rows and fields: first finds all separators of a piece, many bytes at a time, then visits
// the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "absl/status/status.h"

namespace taut::tools {

// One line as fields, without a '\r' at its end. The fields are views of the text and the index, valid during the
// call.
class CsvRow {
 public:
  // `ends` contains the end of each field, relative to `text`. ends[-1] is the position before the line
  // (UINT32_MAX: none).
  CsvRow(const char* text, const uint32_t* ends, int size, uint64_t line)
      : text_(text), ends_(ends), size_(size), line_(line) {}

  int size() const { return size_; }
  const char* begin(int i) const { return text_ + static_cast<uint32_t>(ends_[i - 1] + 1); }
  const char* end(int i) const { return text_ + ends_[i]; }
  std::string_view operator[](int i) const { return {begin(i), static_cast<size_t>(end(i) - begin(i))}; }
  uint64_t line() const { return line_; }  // number of the line in the file, from 1
  std::string_view text() const { return {begin(0), static_cast<size_t>(end(size_ - 1) - begin(0))}; }

 private:
  const char* text_;
  const uint32_t* ends_;
  int size_;
  uint64_t line_;
};

// Separators of one piece of text: about 260 KiB, which fits into the second-level cache. Not thread-safe.
class CsvIndex {
 public:
  // With `quotes`, separators within double quotes do not count. A newline always ends a line.
  explicit CsvIndex(char separator, bool quotes = false);

  // Calls take(const CsvRow&) -> absl::Status for each non-empty line. Stops at the first error and returns it.
  // `first_line` is the number of the first line. REQUIRES: `lines` ends with '\n', and 64 bytes after its end are
  // readable.
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
      // Restore the end: the next row begins after the newline, not after the '\r'.
      ends[last] = newline;
      at = last + 1;
    }
    return absl::OkStatus();
  }

  // Returns whole lines from the start of `lines`: about kPieceBytes, or a single longer line.
  static std::string_view NextPiece(std::string_view lines);
  // Writes the positions of all separators and newlines to ends_, from its second element on, and the indices of
  // newlines in ends_ to lasts_. Returns the number of lines.
  size_t Build(std::string_view piece);
  size_t BuildPlain(std::string_view piece);
  void Reserve(size_t bytes);

  char separator_;
  bool quotes_;
  size_t capacity_ = 0;
  std::unique_ptr<uint32_t[]> ends_, lasts_;
};

}  // namespace taut::tools
