#include "common/base/bytes.h"

#include <fmt/format.h>

namespace taut {

void ByteWriter::PutVarint(uint64_t value) {
  while (value >= 0x80) {
    out_->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out_->push_back(static_cast<char>(value));
}

void ByteWriter::PutString(std::string_view s) {
  PutVarint(s.size());
  out_->append(s);
}

uint64_t ByteReader::GetVarint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = Get<uint8_t>();
    if (failed_) return 0;
    value |= uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80) == 0) return value;
  }
  failed_ = true;  // an 11th byte: a uint64 needs at most 10
  return 0;
}

std::string_view ByteReader::GetString() {
  const uint64_t size = GetVarint();
  if (failed_ || size > rest_.size()) {
    failed_ = true;
    return {};
  }
  const std::string_view s = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return s;
}

absl::Status ByteReader::status(std::string_view what) const {
  if (!failed_) return absl::OkStatus();
  return absl::DataLossError(fmt::format("{}: unexpected end of data", what));
}

}  // namespace taut
