#include "common/json/json_tree.h"

#include <bit>

#include "simdjson.h"

namespace taut {
namespace {

using simdjson::dom::element;
using At = std::array<uintptr_t, 2>;
static_assert(sizeof(element) == sizeof(At));

element ElementOf(const At& at) { return std::bit_cast<element>(at); }

template <typename T>
std::optional<T> Get(const At& at) {
  T out{};
  if (at[0] == 0 || ElementOf(at).get(out) != simdjson::SUCCESS) return std::nullopt;
  return out;
}

}  // namespace

bool JsonNode::is_null() const { return *this && ElementOf(at_).is_null(); }
bool JsonNode::is_object() const { return *this && ElementOf(at_).is_object(); }
bool JsonNode::is_array() const { return *this && ElementOf(at_).is_array(); }

JsonNode JsonNode::operator[](std::string_view key) const {
  JsonNode out;
  element field;
  if (*this && ElementOf(at_)[key].get(field) == simdjson::SUCCESS) out.at_ = std::bit_cast<At>(field);
  return out;
}

std::optional<std::string_view> JsonNode::text() const { return Get<std::string_view>(at_); }
std::optional<int64_t> JsonNode::whole() const { return Get<int64_t>(at_); }
std::optional<double> JsonNode::number() const { return Get<double>(at_); }
std::optional<bool> JsonNode::flag() const { return Get<bool>(at_); }

void JsonNode::ForEachField(absl::FunctionRef<void(std::string_view key, JsonNode value)> fn) const {
  const auto object = Get<simdjson::dom::object>(at_);
  if (!object.has_value()) return;
  for (const auto& field : *object) {
    JsonNode value;
    value.at_ = std::bit_cast<At>(field.value);
    fn(field.key, value);
  }
}

void JsonNode::ForEachItem(absl::FunctionRef<void(JsonNode item)> fn) const {
  const auto items = Get<simdjson::dom::array>(at_);
  if (!items.has_value()) return;
  for (const element item : *items) {
    JsonNode value;
    value.at_ = std::bit_cast<At>(item);
    fn(value);
  }
}

struct JsonTree::Impl {
  simdjson::dom::parser parser;
};

JsonTree::JsonTree() : impl_(std::make_unique<Impl>()) {}
JsonTree::~JsonTree() = default;

absl::Status JsonTree::Parse(std::string_view text) {
  root_ = JsonNode();
  element root;
  const simdjson::error_code e = impl_->parser.parse(text.data(), text.size()).get(root);
  if (e) return absl::DataLossError(simdjson::error_message(e));
  root_.at_ = std::bit_cast<At>(root);
  return absl::OkStatus();
}

}  // namespace taut
