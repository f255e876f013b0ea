// The values of one column in one row group, and the pages that they become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/parquet/column.h"

namespace taut {

// Takes the bytes of a file, in order.
using ByteSink = std::function<void(std::string_view)>;

// zstd with a context that is used again.
class PageCompressor {
 public:
  PageCompressor();
  ~PageCompressor();
  PageCompressor(const PageCompressor&) = delete;
  PageCompressor& operator=(const PageCompressor&) = delete;
  // Valid until the next call. Internal: zstd failed.
  absl::StatusOr<std::string_view> Compress(std::string_view raw);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::string out_;
};

// Where a chunk is, for the footer. Sizes have the headers of the pages in them.
struct ChunkPlace {
  int64_t values = 0;                     // nulls too
  int64_t raw_bytes = 0, file_bytes = 0;  // before and after compression
  int64_t dictionary_at = -1;             // offset in the file; -1: none
  int64_t data_at = 0;
};

// One thread.
class ColumnChunk {
 public:
  explicit ColumnChunk(const ParquetColumn& column) : kind_(column.kind), optional_(column.optional) {}

  // REQUIRES: the column's kind is text.
  void PutText(std::string_view text);
  // REQUIRES: it is another.
  void PutNumber(int64_t number);
  // REQUIRES: it is optional.
  void PutNull();

  // About what it holds in memory.
  size_t bytes() const;

  // Writes all values, as a dictionary of texts and indices into it if that repeats them less, and is empty
  // after it. `offset`: of the sink, moved on. O(values).
  absl::StatusOr<ChunkPlace> Write(PageCompressor& compressor, const ByteSink& sink, int64_t* offset);

 private:
  size_t rows() const { return optional_ ? present_.size() : numbers_.size() + indices_.size(); }
  bool UsesDictionary() const;
  size_t PageEnd(size_t row, size_t value, bool dictionary) const;
  void AppendValues(size_t from, size_t to, bool dictionary, std::string* out) const;
  void Clear();

  const ParquetKind kind_;
  const bool optional_;
  std::vector<uint32_t> present_;  // of an optional column: 1 or 0 for each row
  std::vector<int64_t> numbers_;   // of those that are not null
  std::vector<uint32_t> indices_;  // the same of texts
  std::deque<std::string> texts_;  // each once, by index
  absl::flat_hash_map<std::string_view, uint32_t> index_of_;
  size_t text_bytes_ = 0;  // of texts_
};

}  // namespace taut
