// Parses untrusted JSON into a tree, for callers that look values up by name. The lookup of an absent value
// is not an error.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace taut {

// A value of a tree, valid until the tree parses another text or is destroyed. A default-constructed node is
// "none": the absent value, without fields and items. Cheap to copy. A lookup of a field costs O(fields).
class JsonNode {
 public:
  JsonNode() = default;  // the absent value

  explicit operator bool() const { return at_[0] != 0; }  // false only for none; true for a JSON null
  bool is_null() const;
  bool is_object() const;
  bool is_array() const;

  // Returns the first field with this name; none if this node is not an object or has no such field.
  JsonNode operator[](std::string_view key) const;
  // Return the value if the node is of the requested kind, else nullopt. A number without a fraction is both
  // `whole` and `number`.
  std::optional<std::string_view> text() const;
  std::optional<int64_t> whole() const;
  std::optional<double> number() const;
  std::optional<bool> flag() const;

  // Return the value of a field; "", 0 or false if the field is absent or of another kind.
  std::string_view Text(std::string_view key) const { return (*this)[key].text().value_or(""); }
  int64_t Whole(std::string_view key) const { return (*this)[key].whole().value_or(0); }
  bool Flag(std::string_view key) const { return (*this)[key].flag().value_or(false); }

  // Visit all fields or items in the order of the text; no call if this node is of another kind.
  void ForEachField(absl::FunctionRef<void(std::string_view key, JsonNode value)> fn) const;
  void ForEachItem(absl::FunctionRef<void(JsonNode item)> fn) const;

 private:
  friend class JsonTree;
  std::array<uintptr_t, 2> at_ = {};  // bits of simdjson's element; all zero: the node none
};

// Owns the parsed text and reuses its buffers for the next text. Not thread-safe.
class JsonTree {
 public:
  JsonTree();
  ~JsonTree();

  // Replaces the tree. Returns DataLoss, and sets the root to none, if the text is not JSON, is nested more than
  // 1,024 deep, or exceeds 4 GiB. The text may be freed after the call. O(bytes).
  absl::Status Parse(std::string_view text);
  JsonNode root() const { return root_; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  JsonNode root_;
};

}  // namespace taut
