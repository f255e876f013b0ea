// Encodes plain values little-endian into a byte string and decodes them. All checkpoints and stored records
// use this encoding.
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

// Appends to a string, which must outlive the writer. Never fails.
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
  // Appends an unsigned LEB128: 1 byte below 128, at most 10.
  void PutVarint(uint64_t value);
  // Appends the length as a varint, then the bytes.
  void PutString(std::string_view s);

 private:
  std::string* out_;
};

// Reads the values that a ByteWriter wrote, in the same order. A read past the end and every later read
// return 0 or "", so that a parser can read a whole record and check status() once. The bytes must outlive
// the reader.
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
  // Returns the number that PutVarint wrote. Fails if the encoding has more than 10 bytes.
  uint64_t GetVarint();
  // Returns a view into the reader's bytes.
  std::string_view GetString();

  bool failed() const { return failed_; }
  size_t remaining() const { return rest_.size(); }
  // Returns DataLoss "WHAT: unexpected end of data" if a read failed, else OK.
  absl::Status status(std::string_view what) const;

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace taut
