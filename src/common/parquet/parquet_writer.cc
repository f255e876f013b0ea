#include "common/parquet/parquet_writer.h"

#include <utility>

#include "common/base/bytes.h"
#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "common/parquet/compact_writer.h"
#include "common/parquet/file_format.h"

namespace taut {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr size_t kMostTextBytes = size_t{64} << 20;

int32_t FileType(ParquetKind kind) {
  switch (kind) {
    case ParquetKind::kText:
      return parquet_format::kByteArray;
    case ParquetKind::kDecimal:
      return parquet_format::kFixedBytes;
    case ParquetKind::kTimeMillis:
      return parquet_format::kInt64;
  }
  return parquet_format::kByteArray;
}

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t bytes = DecodeUtf8(text.substr(i)).bytes;
    if (bytes == 0) return false;
    i += bytes;
  }
  return true;
}

std::string MadeUtf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = DecodeUtf8(text).bytes;
    out += bytes == 0 ? "\xEF\xBF\xBD" : text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

// Writes the type in the older and the newer notation, because some readers understand only one notation.
void PutType(const ParquetColumn& column, CompactWriter& out) {
  switch (column.kind) {
    case ParquetKind::kText:
      out.Int32(6, parquet_format::kUtf8);
      out.BeginStruct(10);
      out.BeginStruct(1);
      out.EndStruct();
      break;
    case ParquetKind::kDecimal:
      out.Int32(6, parquet_format::kDecimal);
      out.Int32(7, column.scale);
      out.Int32(8, kDecimalDigits);
      out.BeginStruct(10);
      out.BeginStruct(5);
      out.Int32(1, column.scale);
      out.Int32(2, kDecimalDigits);
      out.EndStruct();
      break;
    case ParquetKind::kTimeMillis:
      out.Int32(6, parquet_format::kTimestampMillis);
      out.BeginStruct(10);
      out.BeginStruct(8);
      out.Bool(1, true);  // times are in UTC
      out.BeginStruct(2);
      out.BeginStruct(1);  // the unit is milliseconds
      out.EndStruct();
      out.EndStruct();
      out.EndStruct();
      break;
  }
  out.EndStruct();
}

void PutSchema(const std::vector<ParquetColumn>& columns, CompactWriter& out) {
  out.BeginList(2, CompactType::kStruct, columns.size() + 1);
  out.BeginStruct();
  out.Text(4, "schema");
  out.Int32(5, static_cast<int32_t>(columns.size()));
  out.EndStruct();
  for (const ParquetColumn& column : columns) {
    out.BeginStruct();
    out.Int32(1, FileType(column.kind));
    if (column.kind == ParquetKind::kDecimal) out.Int32(2, kDecimalBytes);
    out.Int32(3, column.optional ? parquet_format::kOptional : parquet_format::kRequired);
    out.Text(4, column.name);
    PutType(column, out);
    out.EndStruct();
  }
}

void PutChunk(const ParquetColumn& column, const ChunkPlace& place, CompactWriter& out) {
  const bool dictionary = place.dictionary_at >= 0;
  out.BeginStruct();
  out.Int64(2, 0);  // offset of metadata outside the footer: none
  out.BeginStruct(3);
  out.Int32(1, FileType(column.kind));
  out.BeginList(2, CompactType::kInt32, dictionary ? 3 : 2);
  out.Int32Element(parquet_format::kPlain);
  out.Int32Element(parquet_format::kRle);
  if (dictionary) out.Int32Element(parquet_format::kRleDictionary);
  out.BeginList(3, CompactType::kText, 1);
  out.TextElement(column.name);
  out.Int32(4, parquet_format::kZstd);
  out.Int64(5, place.values);
  out.Int64(6, place.raw_bytes);
  out.Int64(7, place.file_bytes);
  out.Int64(9, place.data_at);
  if (dictionary) out.Int64(11, place.dictionary_at);
  out.EndStruct();
  out.EndStruct();
}

std::vector<ColumnChunk> ChunksOf(const std::vector<ParquetColumn>& columns) {
  std::vector<ColumnChunk> out;
  out.reserve(columns.size());
  for (const ParquetColumn& column : columns) out.emplace_back(column);
  return out;
}

}  // namespace

ParquetWriter::ParquetWriter(std::vector<ParquetColumn> columns, ByteSink sink, ParquetBounds bounds)
    : columns_(std::move(columns)), sink_(std::move(sink)), bounds_(bounds), chunks_(ChunksOf(columns_)) {
  sink_(kMagic);
  offset_ = static_cast<int64_t>(kMagic.size());
}

bool ParquetWriter::Takes(bool is_text, bool is_null) {
  if (!status_.ok()) return false;
  const ParquetColumn& column = columns_[next_];
  if (is_null ? column.optional : is_text == (column.kind == ParquetKind::kText)) return true;
  status_ = absl::InvalidArgumentError(StrCat("column ", column.name, " cannot hold ",
                                              is_null   ? "a null"
                                              : is_text ? "a text"
                                                        : "a number"));
  return false;
}

void ParquetWriter::Text(std::string_view text) {
  if (!Takes(true, false)) return;
  if (text.size() > kMostTextBytes) {
    status_ = absl::InvalidArgumentError(StrCat("column ", columns_[next_].name, ": a text of ", text.size(),
                                                " bytes; at most ", kMostTextBytes, " are written"));
    return;
  }
  if (IsUtf8(text)) {
    chunks_[next_].PutText(text);
  } else {
    chunks_[next_].PutText(MadeUtf8(text));
  }
  EndCell();
}

void ParquetWriter::Number(int64_t number) {
  if (!Takes(false, false)) return;
  chunks_[next_].PutNumber(number);
  EndCell();
}

void ParquetWriter::Null() {
  if (!Takes(false, true)) return;
  chunks_[next_].PutNull();
  EndCell();
}

void ParquetWriter::EndCell() {
  if (++next_ < columns_.size()) return;
  next_ = 0;
  ++rows_;
  size_t bytes = 0;
  for (const ColumnChunk& chunk : chunks_) bytes += chunk.bytes();
  if (rows_ >= bounds_.group_rows || bytes >= bounds_.group_bytes) WriteGroup();
}

void ParquetWriter::WriteGroup() {
  Group group;
  group.rows = static_cast<int64_t>(rows_);
  rows_ = 0;
  for (ColumnChunk& chunk : chunks_) {
    const absl::StatusOr<ChunkPlace> place = chunk.Write(compressor_, sink_, &offset_);
    if (!place.ok()) {
      status_ = place.status();
      return;
    }
    group.chunks.push_back(*place);
  }
  groups_.push_back(std::move(group));
}

std::string ParquetWriter::Footer() const {
  std::string bytes;
  CompactWriter out(&bytes);
  out.BeginStruct();
  out.Int32(1, 2);  // version of the format
  PutSchema(columns_, out);
  int64_t rows = 0;
  for (const Group& group : groups_) rows += group.rows;
  out.Int64(3, rows);
  out.BeginList(4, CompactType::kStruct, groups_.size());
  for (const Group& group : groups_) {
    int64_t raw_bytes = 0;
    out.BeginStruct();
    out.BeginList(1, CompactType::kStruct, columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
      PutChunk(columns_[i], group.chunks[i], out);
      raw_bytes += group.chunks[i].raw_bytes;
    }
    out.Int64(2, raw_bytes);
    out.Int64(3, group.rows);
    out.EndStruct();
  }
  out.Text(6, "Tautline");
  out.EndStruct();
  return bytes;
}

absl::Status ParquetWriter::Finish() {
  if (status_.ok() && next_ != 0)
    status_ = absl::InvalidArgumentError(StrCat("the last row ends before column ", columns_[next_].name));
  if (status_.ok() && rows_ > 0) WriteGroup();
  if (!status_.ok()) return status_;
  std::string footer = Footer();
  ByteWriter(&footer).Put(static_cast<uint32_t>(footer.size()));
  sink_(footer);
  sink_(kMagic);
  return absl::OkStatus();
}

}  // namespace taut
