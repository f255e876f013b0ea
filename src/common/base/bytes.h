// Little-endian encoding of plain values into a byte string and back: the ground that every checkpoint stands
// on.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"

namespace taut {

static_assert(std::endian::native == std::endian::little, "checkpoints are written little-endian by memcpy");

// Appends to a string that the caller owns. Never fails.
class ByteWriter {
 public:
  explicit ByteWriter(std::string* out) : out_(out) {}

  template <typename T>
  requires std::is_arithmetic_v<T>
  void Put(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    out_->append(raw, sizeof(T));
  }
  // Unsigned LEB128: 1 byte below 128.
  void PutVarint(uint64_t value);
  // Length as a varint, then the bytes.
  void PutString(std::string_view s);

 private:
  std::string* out_;
};

// Reads what ByteWriter wrote. The first read past the end makes the reader fail for good: every later read
// returns 0 or "", so that a parser may read a whole record and ask once. Does not own the bytes.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  requires std::is_arithmetic_v<T> T Get() {
    T value{};
    if (failed_ || rest_.size() < sizeof(T)) {
      failed_ = true;
      return T{};
    }
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return value;
  }
  uint64_t GetVarint();
  std::string_view GetString();

  bool failed() const { return failed_; }
  size_t remaining() const { return rest_.size(); }
  // DataLoss naming `what` if a read ran past the end.
  absl::Status status(std::string_view what) const;

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace taut
