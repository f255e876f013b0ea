#include "common/parquet/column_chunk.h"

#include <zstd.h>

#include <algorithm>

#include "common/base/bytes.h"
#include "common/base/strings.h"
#include "common/parquet/compact_writer.h"
#include "common/parquet/file_format.h"
#include "common/parquet/run_lengths.h"

namespace taut {
namespace {

constexpr int kZstdLevel = 3;
constexpr size_t kPageRows = 20'000, kPageBytes = size_t{1} << 20;
constexpr size_t kTextOverhead = 64;  // bytes per distinct text, for its object and its place in the map

void AppendDecimal(int64_t number, std::string* out) {
  static_assert(kDecimalBytes == sizeof(number) + 1);
  *out += number < 0 ? '\xFF' : '\0';
  for (int shift = 56; shift >= 0; shift -= 8)
    *out += static_cast<char>(static_cast<uint64_t>(number) >> shift & 0xFFU);
}

void AppendPlainText(std::string_view text, std::string* out) {
  ByteWriter(out).Put(static_cast<uint32_t>(text.size()));
  *out += text;
}

std::string PageHeader(int32_t type, size_t raw, size_t packed, size_t values, int32_t encoding) {
  std::string out;
  CompactWriter header(&out);
  header.BeginStruct();
  header.Int32(1, type);
  header.Int32(2, static_cast<int32_t>(raw));
  header.Int32(3, static_cast<int32_t>(packed));
  header.BeginStruct(type == parquet_format::kDataPage ? 5 : 7);
  header.Int32(1, static_cast<int32_t>(values));
  header.Int32(2, encoding);
  if (type == parquet_format::kDataPage) {
    header.Int32(3, parquet_format::kRle);  // encoding of definition levels
    header.Int32(4, parquet_format::kRle);  // encoding of repetition levels; none are written
  }
  header.EndStruct();
  header.EndStruct();
  return out;
}

}  // namespace

struct PageCompressor::Context {
  ZSTD_CCtx* of = ZSTD_createCCtx();
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { ZSTD_freeCCtx(of); }
};

PageCompressor::PageCompressor() : context_(std::make_unique<Context>()) {}
PageCompressor::~PageCompressor() = default;

absl::StatusOr<std::string_view> PageCompressor::Compress(std::string_view raw) {
  out_.resize(std::max(out_.size(), ZSTD_compressBound(raw.size())));
  const size_t size =
      ZSTD_compressCCtx(context_->of, out_.data(), out_.size(), raw.data(), raw.size(), kZstdLevel);
  if (ZSTD_isError(size) != 0)
    return absl::InternalError(StrCat("cannot compress a page: zstd: ", ZSTD_getErrorName(size)));
  return std::string_view(out_).substr(0, size);
}

void ColumnChunk::PutText(std::string_view text) {
  if (optional_) present_.push_back(1);
  // Many columns repeat the previous row's value: comparing with that value first avoids hashing.
  if (!indices_.empty() && texts_[indices_.back()] == text) {
    indices_.push_back(indices_.back());
    return;
  }
  const auto found = index_of_.find(text);
  if (found != index_of_.end()) {
    indices_.push_back(found->second);
    return;
  }
  const auto index = static_cast<uint32_t>(texts_.size());
  index_of_.emplace(texts_.emplace_back(text), index);
  text_bytes_ += text.size();
  indices_.push_back(index);
}

void ColumnChunk::PutNumber(int64_t number) {
  if (optional_) present_.push_back(1);
  numbers_.push_back(number);
}

void ColumnChunk::PutNull() { present_.push_back(0); }

size_t ColumnChunk::bytes() const {
  return (present_.size() + indices_.size()) * sizeof(uint32_t) + numbers_.size() * sizeof(int64_t) +
         text_bytes_ + texts_.size() * kTextOverhead;
}

bool ColumnChunk::UsesDictionary() const { return !indices_.empty() && texts_.size() <= indices_.size() / 2; }

size_t ColumnChunk::PageEnd(size_t row, size_t value, bool dictionary) const {
  const size_t last = std::min(rows(), row + kPageRows);
  if (kind_ != ParquetKind::kText || dictionary) return last;
  size_t bytes = 0, end = row;
  for (; end < last && bytes < kPageBytes; ++end) {
    if (optional_ && present_[end] == 0) continue;
    bytes += sizeof(uint32_t) + texts_[indices_[value++]].size();
  }
  return end;
}

void ColumnChunk::AppendValues(size_t from, size_t to, bool dictionary, std::string* out) const {
  if (dictionary) {
    const int width = BitWidthOf(texts_.size());
    *out += static_cast<char>(width);
    AppendRunLengths(std::span(indices_).subspan(from, to - from), width, out);
    return;
  }
  for (size_t i = from; i < to; ++i) {
    switch (kind_) {
      case ParquetKind::kText:
        AppendPlainText(texts_[indices_[i]], out);
        break;
      case ParquetKind::kDecimal:
        AppendDecimal(numbers_[i], out);
        break;
      case ParquetKind::kTimeMillis:
        ByteWriter(out).Put(numbers_[i]);
        break;
    }
  }
}

absl::StatusOr<ChunkPlace> ColumnChunk::Write(PageCompressor& compressor, const ByteSink& sink,
                                              int64_t* offset) {
  ChunkPlace place;
  std::string raw;
  const auto write_page = [&](int32_t type, size_t values, int32_t encoding) -> absl::Status {
    const absl::StatusOr<std::string_view> packed = compressor.Compress(raw);
    if (!packed.ok()) return packed.status();
    const std::string header = PageHeader(type, raw.size(), packed->size(), values, encoding);
    sink(header);
    sink(*packed);
    place.raw_bytes += static_cast<int64_t>(header.size() + raw.size());
    const auto written = static_cast<int64_t>(header.size() + packed->size());
    place.file_bytes += written;
    *offset += written;
    raw.clear();
    return absl::OkStatus();
  };
  const bool dictionary = UsesDictionary();
  if (dictionary) {
    place.dictionary_at = *offset;
    for (const std::string& text : texts_) AppendPlainText(text, &raw);
    if (absl::Status s = write_page(parquet_format::kDictionaryPage, texts_.size(), parquet_format::kPlain);
        !s.ok())
      return s;
  }
  place.data_at = *offset;
  place.values = static_cast<int64_t>(rows());
  for (size_t row = 0, value = 0; row < rows();) {
    const size_t end = PageEnd(row, value, dictionary);
    size_t last_value = value + end - row;
    if (optional_) {
      const std::span<const uint32_t> levels = std::span(present_).subspan(row, end - row);
      last_value = value + static_cast<size_t>(std::ranges::count(levels, 1U));
      std::string packed;
      AppendRunLengths(levels, 1, &packed);
      AppendPlainText(packed, &raw);  // prefixed by the length of the levels, like a text
    }
    AppendValues(value, last_value, dictionary, &raw);
    if (absl::Status s = write_page(parquet_format::kDataPage, end - row,
                                    dictionary ? parquet_format::kRleDictionary : parquet_format::kPlain);
        !s.ok())
      return s;
    row = end;
    value = last_value;
  }
  Clear();
  return place;
}

void ColumnChunk::Clear() {
  present_.clear();
  numbers_.clear();
  indices_.clear();
  index_of_.clear();
  texts_.clear();
  text_bytes_ = 0;
}

}  // namespace taut
