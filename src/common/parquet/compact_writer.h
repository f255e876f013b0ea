// Writes Thrift's compact protocol, the format of the metadata in Parquet files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace taut {

// Element type of a list, with the protocol's number.
enum class CompactType : uint8_t { kInt32 = 5, kText = 8, kStruct = 12 };

// Appends to a string, which must outlive the writer. Not thread-safe. The fields of a struct are written
// with ascending ids, at least 1.
//
//   CompactWriter out(&bytes);
//   out.BeginStruct();
//   out.Int32(1, 7);
//   out.EndStruct();
class CompactWriter {
 public:
  explicit CompactWriter(std::string* out) : out_(out) {}

  // Begins the outermost struct, or the next element of a list of structs.
  void BeginStruct() { last_ids_.push_back(0); }
  void BeginStruct(int16_t id);  // begins a struct that is a field
  void EndStruct();

  void Bool(int16_t id, bool value);
  void Int32(int16_t id, int32_t value);
  void Int64(int16_t id, int64_t value);
  void Text(int16_t id, std::string_view value);

  // Begins a list; `size` elements of this type must follow.
  void BeginList(int16_t id, CompactType type, size_t size);
  void Int32Element(int32_t value);
  void TextElement(std::string_view value);

 private:
  void Field(int16_t id, uint8_t type);
  void ZigZag(int64_t value);

  std::string* out_;
  std::vector<int16_t> last_ids_;  // last field id of each open struct, the innermost last
};

}  // namespace taut
