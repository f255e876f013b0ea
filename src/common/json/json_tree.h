// JSON from outside as a tree, for callers that look for values by name and leave out what is not there.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace taut {

// A value of a tree, valid until the tree parses another text; or none, which has no fields, items and value.
// Cheap to copy; finding a field takes time by the number of fields.
class JsonNode {
 public:
  JsonNode() = default;  // none

  explicit operator bool() const { return at_[0] != 0; }  // a null is not none
  bool is_null() const;
  bool is_object() const;
  bool is_array() const;

  // None if it is no object or has no such field; of fields with one name, the first.
  JsonNode operator[](std::string_view key) const;
  // Of its kind, else absent. A number without a fraction is `whole` and `number`.
  std::optional<std::string_view> text() const;
  std::optional<int64_t> whole() const;
  std::optional<double> number() const;
  std::optional<bool> flag() const;

  // Of a field; "", 0 and false if it is not there or of another kind.
  std::string_view Text(std::string_view key) const { return (*this)[key].text().value_or(""); }
  int64_t Whole(std::string_view key) const { return (*this)[key].whole().value_or(0); }
  bool Flag(std::string_view key) const { return (*this)[key].flag().value_or(false); }

  // In the order of the text; nothing if it is of another kind.
  void ForEachField(absl::FunctionRef<void(std::string_view key, JsonNode value)> fn) const;
  void ForEachItem(absl::FunctionRef<void(JsonNode item)> fn) const;

 private:
  friend class JsonTree;
  std::array<uintptr_t, 2> at_ = {};  // the parser's reference
};

// One object, one thread; keeps its buffers.
class JsonTree {
 public:
  JsonTree();
  ~JsonTree();

  // DataLoss: not JSON, nested more than 1,024 deep, or more than 4 GiB; the root is then none. O(bytes).
  absl::Status Parse(std::string_view text);
  JsonNode root() const { return root_; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  JsonNode root_;
};

}  // namespace taut
