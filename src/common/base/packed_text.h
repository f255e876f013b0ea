// Stores a text or bytes, for objects that exist in millions. The object is one pointer wide; the heap block is 4
// bytes longer than the text.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace taut {

// An empty text allocates nothing. Each assignment of a text allocates a new block.
class PackedText {
 public:
  PackedText() = default;
  explicit PackedText(std::string_view text) {
    if (text.empty()) return;
    const auto size = static_cast<uint32_t>(text.size());
    bytes_ = std::make_unique_for_overwrite<char[]>(sizeof(size) + text.size());
    std::memcpy(bytes_.get(), &size, sizeof(size));
    std::memcpy(bytes_.get() + sizeof(size), text.data(), text.size());
  }
  PackedText& operator=(std::string_view text) { return *this = PackedText(text); }

  // Returns the text. The view is valid until the object is assigned, cleared or moved.
  std::string_view view() const {
    if (bytes_ == nullptr) return {};
    uint32_t size = 0;
    std::memcpy(&size, bytes_.get(), sizeof(size));
    return {bytes_.get() + sizeof(size), size};
  }
  operator std::string_view() const { return view(); }  // NOLINT: implicit, as for std::string
  bool empty() const { return bytes_ == nullptr; }
  void clear() { bytes_.reset(); }
  size_t heap_bytes() const { return bytes_ == nullptr ? 0 : sizeof(uint32_t) + view().size(); }

  friend bool operator==(const PackedText& a, std::string_view b) { return a.view() == b; }

 private:
  std::unique_ptr<char[]> bytes_;  // 4 bytes with the size, then the text
};

}  // namespace taut
