// The values of one column in one row group, and their encoding as pages.
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

// Receives the bytes of a file, in order.
using ByteSink = std::function<void(std::string_view)>;

// Compresses with zstd; reuses one context. Not thread-safe.
class PageCompressor {
 public:
  PageCompressor();
  ~PageCompressor();
  PageCompressor(const PageCompressor&) = delete;
  PageCompressor& operator=(const PageCompressor&) = delete;
  // Returns the compressed bytes, valid until the next call; Internal if zstd fails.
  absl::StatusOr<std::string_view> Compress(std::string_view raw);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::string out_;
};

// Position and sizes of a chunk, for the footer. Sizes include the page headers.
struct ChunkPlace {
  int64_t values = 0;                     // number of values, including nulls
  int64_t raw_bytes = 0, file_bytes = 0;  // sizes before and after compression
  int64_t dictionary_at = -1;             // offset of the dictionary page in the file; -1: none
  int64_t data_at = 0;
};

// Collects values, then writes them. Not thread-safe.
class ColumnChunk {
 public:
  explicit ColumnChunk(const ParquetColumn& column) : kind_(column.kind), optional_(column.optional) {}

  // Appends a text. REQUIRES: the column's kind is text.
  void PutText(std::string_view text);
  // Appends a number. REQUIRES: the column's kind is not text.
  void PutNumber(int64_t number);
  // Appends a null. REQUIRES: the column is optional.
  void PutNull();

  // Approximate bytes of memory in use.
  size_t bytes() const;

  // Writes all values and clears the chunk. If enough texts repeat, texts are written as a dictionary and indices.
  // `offset` is the sink's position, which is advanced. Internal if zstd fails. O(values).
  absl::StatusOr<ChunkPlace> Write(PageCompressor& compressor, const ByteSink& sink, int64_t* offset);

 private:
  size_t rows() const { return optional_ ? present_.size() : numbers_.size() + indices_.size(); }
  bool UsesDictionary() const;
  size_t PageEnd(size_t row, size_t value, bool dictionary) const;
  void AppendValues(size_t from, size_t to, bool dictionary, std::string* out) const;
  void Clear();

  const ParquetKind kind_;
  const bool optional_;
  std::vector<uint32_t> present_;  // 1 per row with a value, 0 per null; empty unless the column is optional
  std::vector<int64_t> numbers_;   // the values that are not null
  std::vector<uint32_t> indices_;  // positions in texts_ of the texts that are not null
  std::deque<std::string> texts_;  // distinct texts, by index; a deque, since index_of_ refers to them
  absl::flat_hash_map<std::string_view, uint32_t> index_of_;
  size_t text_bytes_ = 0;  // total length of texts_
};

}  // namespace taut
