// Writes a file in the format Apache Parquet with a flat schema, row by row. Row groups have bounded size;
// pages are compressed with zstd.
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
  size_t group_bytes = size_t{16} << 20;  // memory of the values of a row group
};

// Memory: one row group, and up to a hundred bytes per column of each written group. Not thread-safe.
//
//   ParquetWriter out({{"job"}, {"cost", ParquetKind::kDecimal, false, 6}}, sink);
//   out.Text("shop/web");
//   out.Number(1'500'000);  // 1.5
//   absl::Status s = out.Finish();
class ParquetWriter {
 public:
  // REQUIRES: columns is not empty.
  ParquetWriter(std::vector<ParquetColumn> columns, ByteSink sink, ParquetBounds bounds = {});

  // Write the next cell, from the first column to the last, row after row. Bytes of a text that are not UTF-8
  // become U+FFFD, because readers reject the whole file otherwise. Finish reports a cell that does not fit
  // its column, or a text above 64 MiB.
  void Text(std::string_view text);
  void Number(int64_t number);  // for columns of decimals or times
  void Null();

  // Writes the remaining rows and the footer, without which the file cannot be read. Call once, after the
  // last cell of a row. Returns the first error: InvalidArgument with the column, Internal if zstd failed.
  // After an error the file is unusable.
  absl::Status Finish();

 private:
  struct Group {
    int64_t rows = 0;
    std::vector<ChunkPlace> chunks;  // indexed by column
  };
  bool Takes(bool is_text, bool is_null);
  void EndCell();
  void WriteGroup();
  std::string Footer() const;

  const std::vector<ParquetColumn> columns_;
  const ByteSink sink_;
  const ParquetBounds bounds_;
  PageCompressor compressor_;
  std::vector<ColumnChunk> chunks_;  // the columns of the current group
  size_t next_ = 0;                  // column of the next cell
  size_t rows_ = 0;                  // rows in the current group
  int64_t offset_ = 0;
  std::vector<Group> groups_;
  absl::Status status_;
};

}  // namespace taut
