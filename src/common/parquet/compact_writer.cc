#include "common/parquet/compact_writer.h"

#include "common/base/bytes.h"

namespace taut {
namespace {

// Type numbers of the protocol that CompactType does not contain.
constexpr uint8_t kTrue = 1, kFalse = 2, kInt64 = 6, kList = 9;
constexpr int kMostDelta = 15;
constexpr size_t kLongList = 15;  // a list of at least this size writes its size as a varint

}  // namespace

void CompactWriter::ZigZag(int64_t value) {
  ByteWriter(out_).PutVarint((static_cast<uint64_t>(value) << 1U) ^ static_cast<uint64_t>(value >> 63));
}

void CompactWriter::Field(int16_t id, uint8_t type) {
  const int delta = id - last_ids_.back();
  if (delta >= 1 && delta <= kMostDelta) {
    *out_ += static_cast<char>(delta << 4 | type);
  } else {
    *out_ += static_cast<char>(type);
    ZigZag(id);
  }
  last_ids_.back() = id;
}

void CompactWriter::BeginStruct(int16_t id) {
  Field(id, static_cast<uint8_t>(CompactType::kStruct));
  BeginStruct();
}

void CompactWriter::EndStruct() {
  *out_ += '\0';
  last_ids_.pop_back();
}

void CompactWriter::Bool(int16_t id, bool value) { Field(id, value ? kTrue : kFalse); }

void CompactWriter::Int32(int16_t id, int32_t value) {
  Field(id, static_cast<uint8_t>(CompactType::kInt32));
  ZigZag(value);
}

void CompactWriter::Int64(int16_t id, int64_t value) {
  Field(id, kInt64);
  ZigZag(value);
}

void CompactWriter::Text(int16_t id, std::string_view value) {
  Field(id, static_cast<uint8_t>(CompactType::kText));
  ByteWriter(out_).PutString(value);
}

void CompactWriter::BeginList(int16_t id, CompactType type, size_t size) {
  Field(id, kList);
  const auto of = static_cast<uint8_t>(type);
  if (size < kLongList) {
    *out_ += static_cast<char>(size << 4 | of);
    return;
  }
  *out_ += static_cast<char>(kLongList << 4 | of);
  ByteWriter(out_).PutVarint(size);
}

void CompactWriter::Int32Element(int32_t value) { ZigZag(value); }

void CompactWriter::TextElement(std::string_view value) { ByteWriter(out_).PutString(value); }

}  // namespace taut
