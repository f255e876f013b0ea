// A file in the format Apache Parquet with a flat schema, written row by row: row groups of bounded size,
// pages compressed with zstd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/parquet/column.h"
#include "common/parquet/column_chunk.h"

namespace taut {

struct ParquetBounds {
  size_t group_rows = 1'000'000;
  size_t group_bytes = size_t{16} << 20;  // of values in memory
};

// Holds one row group in memory, and up to a hundred bytes for each column of each group that was written.
// One thread.
//
//   ParquetWriter out({{"job"}, {"cost", ParquetKind::kDecimal, false, 6}}, sink);
//   out.Text("shop/web");
//   out.Number(1'500'000);  // 1.5
//   absl::Status s = out.Finish();
class ParquetWriter {
 public:
  // REQUIRES: columns is not empty.
  ParquetWriter(std::vector<ParquetColumn> columns, ByteSink sink, ParquetBounds bounds = {});

  // The next cell, from the first column to the last, row after row. Bytes of a text that are not UTF-8
  // become U+FFFD: readers refuse the whole file otherwise. A cell that does not fit its column, and a text
  // above 64 MiB, are errors of Finish.
  void Text(std::string_view text);
  void Number(int64_t number);  // of a decimal or a time
  void Null();

  // Writes what is left, and the footer, without which the file cannot be read. Call once, after the last
  // cell of a row. The first error: InvalidArgument naming the column, Internal if zstd failed.
  absl::Status Finish();

 private:
  struct Group {
    int64_t rows = 0;
    std::vector<ChunkPlace> chunks;  // by column
  };
  bool Takes(bool is_text, bool is_null);
  void EndCell();
  void WriteGroup();
  std::string Footer() const;

  const std::vector<ParquetColumn> columns_;
  const ByteSink sink_;
  const ParquetBounds bounds_;
  PageCompressor compressor_;
  std::vector<ColumnChunk> chunks_;  // of the group that is filled
  size_t next_ = 0;                  // column
  size_t rows_ = 0;                  // of the group
  int64_t offset_ = 0;
  std::vector<Group> groups_;
  absl::Status status_;
};

}  // namespace taut
