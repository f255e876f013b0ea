#include "common/json/json_walk.h"

#include <charconv>
#include <utility>

#include "common/base/strings.h"
#include "simdjson.h"

namespace taut {

using simdjson::error_code;
namespace ondemand = simdjson::ondemand;

// Position of a JsonValue. Stored on the stack of the function that visits the fields or items, so a value is
// valid only during the callback. `parent` is the position of the enclosing object or array, for paths in errors.
struct JsonValue::Place {
  const Place* parent = nullptr;
  std::string_view key = {};  // name, if the value is a field
  size_t index = 0;           // position, if the value is an item
  bool is_item = false;
  ondemand::value value = {};
};

namespace {

using Place = JsonValue::Place;

std::string PathOf(const Place* place) {
  if (place == nullptr) return "";
  std::string path = PathOf(place->parent);
  if (place->is_item) return StrCat(path, "[", place->index, "]");
  return StrCat(path, path.empty() ? "" : ".", place->key);
}

std::string AtPlace(const Place* place, std::string_view what) {
  const std::string path = PathOf(place);
  return path.empty() ? std::string(what) : StrCat(path, ": ", what);
}

absl::Status Failed(const Place* place, error_code e, std::string_view expected) {
  switch (e) {
    case simdjson::INCORRECT_TYPE:
    case simdjson::NO_SUCH_FIELD:
      return absl::InvalidArgumentError(AtPlace(place, StrCat("expected ", expected)));
    case simdjson::NUMBER_ERROR:
    case simdjson::NUMBER_OUT_OF_RANGE:
      return absl::OutOfRangeError(AtPlace(place, StrCat("expected ", expected)));
    default:
      return absl::DataLossError(AtPlace(place, simdjson::error_message(e)));
  }
}

template <typename T>
absl::Status Get(Place& place, T& out, std::string_view expected) {
  T value{};
  const error_code e = place.value.get(value);
  if (!e) {
    out = value;
    return absl::OkStatus();
  }
  // simdjson also returns NUMBER_ERROR for a value that is not a number at all.
  ondemand::json_type type{};
  const bool is_other_kind = e == simdjson::NUMBER_ERROR &&
                             place.value.type().get(type) == simdjson::SUCCESS &&
                             type != ondemand::json_type::number;
  return Failed(&place, is_other_kind ? simdjson::INCORRECT_TYPE : e, expected);
}

absl::Status EachField(const Place* parent, simdjson::simdjson_result<ondemand::object> result,
                       JsonValue::FieldFn fn) {
  ondemand::object object;
  if (const error_code e = std::move(result).get(object); e) return Failed(parent, e, "an object");
  Place place{.parent = parent};
  for (auto field_result : object) {
    ondemand::field field;
    if (const error_code e = std::move(field_result).get(field); e) return Failed(parent, e, "a field");
    if (const error_code e = field.unescaped_key().get(place.key); e) return Failed(parent, e, "a key");
    place.value = field.value();
    if (absl::Status s = fn(place.key, JsonValue(place)); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status EachItem(const Place* parent, simdjson::simdjson_result<ondemand::array> result,
                      JsonValue::ItemFn fn) {
  ondemand::array array;
  if (const error_code e = std::move(result).get(array); e) return Failed(parent, e, "an array");
  Place place{.parent = parent, .is_item = true};
  for (auto item : array) {
    if (const error_code e = std::move(item).get(place.value); e) return Failed(parent, e, "an item");
    if (absl::Status s = fn(JsonValue(place)); !s.ok()) return s;
    ++place.index;
  }
  return absl::OkStatus();
}

bool ParsePrometheusNumber(std::string_view text, double& out) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  // from_chars returns out_of_range only for numbers that no double holds, and Prometheus prints doubles.
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

absl::Status JsonValue::ReadKind(JsonKind& out) const {
  ondemand::json_type type{};
  if (const error_code e = place_->value.type().get(type); e) return Failed(place_, e, "a value");
  switch (type) {
    case ondemand::json_type::array:
      out = JsonKind::kArray;
      break;
    case ondemand::json_type::object:
      out = JsonKind::kObject;
      break;
    case ondemand::json_type::number:
      out = JsonKind::kNumber;
      break;
    case ondemand::json_type::string:
      out = JsonKind::kText;
      break;
    case ondemand::json_type::boolean:
      out = JsonKind::kBool;
      break;
    case ondemand::json_type::null:
      out = JsonKind::kNull;
      break;
  }
  return absl::OkStatus();
}

absl::Status JsonValue::Read(bool& out) const { return Get(*place_, out, "true or false"); }
absl::Status JsonValue::Read(int64_t& out) const { return Get(*place_, out, "a whole number"); }
absl::Status JsonValue::Read(double& out) const { return Get(*place_, out, "a number"); }
absl::Status JsonValue::Read(std::string_view& out) const { return Get(*place_, out, "a text"); }
absl::Status JsonValue::Read(std::string& out) const {
  std::string_view text;
  absl::Status s = Read(text);
  if (s.ok()) out = text;
  return s;
}

absl::Status JsonValue::ReadPrometheusNumber(double& out) const {
  std::string_view text;
  if (absl::Status s = Read(text); !s.ok()) return s;
  double number = 0;
  if (!ParsePrometheusNumber(text, number)) {
    return absl::OutOfRangeError(AtPlace(place_, "expected a number in quotes"));
  }
  out = number;
  return absl::OkStatus();
}

// Walks the array without ForEachItem's callbacks, because a response may contain millions of samples.
absl::Status JsonValue::ReadPrometheusSample(double& time_s, double& value) const {
  ondemand::array array;
  if (const error_code e = place_->value.get_array().get(array); e) return Failed(place_, e, "an array");
  Place place{.parent = place_, .is_item = true};
  double numbers[2] = {};
  for (auto item : array) {
    if (const error_code e = std::move(item).get(place.value); e) return Failed(place_, e, "an item");
    std::string_view text;
    if (place.index == 0) {
      if (place.value.get(numbers[0])) return Get(place, numbers[0], "a number");
    } else if (place.index == 1) {
      if (place.value.get(text) || !ParsePrometheusNumber(text, numbers[1]))
        return JsonValue(place).ReadPrometheusNumber(numbers[1]);
    }
    ++place.index;
  }
  if (place.index != 2) return Error("expected a time and a value");
  time_s = numbers[0];
  value = numbers[1];
  return absl::OkStatus();
}

absl::Status JsonValue::ForEachField(FieldFn fn) const {
  return EachField(place_, place_->value.get_object(), fn);
}
absl::Status JsonValue::ForEachItem(ItemFn fn) const {
  return EachItem(place_, place_->value.get_array(), fn);
}

std::string JsonValue::path() const { return PathOf(place_); }

const char* JsonValue::begin() const { return place_->value.raw_json_token().data(); }

absl::Status JsonValue::Error(std::string_view what) const {
  return absl::InvalidArgumentError(AtPlace(place_, what));
}

struct JsonReader::Impl {
  ondemand::parser parser;
  ondemand::document document;
  size_t error_offset = 0;
  static constexpr size_t kNotCut = std::string::npos;

  template <typename Walk>
  absl::Status Read(std::string& text, IfCut if_cut, const Walk& walk) {
    const bool reads_rest = if_cut == IfCut::kReadRest;
    size_t cut = reads_rest ? CloseIfCut(text) : kNotCut;
    error_code e = Iterate(text);
    if (e == simdjson::UNCLOSED_STRING && reads_rest) {
      // The cut is inside a string: drop the string, so that its first part is not mistaken for the whole string.
      text.resize(text.rfind('"'));
      cut = CloseIfCut(text);
      e = Iterate(text);
    }
    absl::Status s = e ? Failed(nullptr, e, "JSON") : walk();
    if (s.ok() && cut == kNotCut) return s;
    const char* at = nullptr;
    const char* const begin = text.data();
    const bool is_known =
        !e && !document.current_location().get(at) && at >= begin && at <= begin + text.size();
    error_offset = is_known ? static_cast<size_t>(at - begin) : text.size();
    if (cut == kNotCut || (!s.ok() && error_offset < cut)) return s;
    error_offset = cut;
    return Failed(nullptr, simdjson::INCOMPLETE_ARRAY_OR_OBJECT, "JSON");
  }

  error_code Iterate(std::string& text) {
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    return parser.iterate(simdjson::padded_string_view(text.data(), text.size(), text.capacity()))
        .get(document);
  }

  // Appends a brace if the last brace of an object is missing: simdjson reads no field of an open object.
  // Returns the position of the added text, or kNotCut.
  static size_t CloseIfCut(std::string& text) {
    const std::string_view rest = StripSpace(text);
    if (!rest.starts_with('{') || rest.ends_with('}')) return kNotCut;
    const size_t size = text.size();
    text += ",}";  // the comma keeps the brace from completing an inner object
    return size;
  }
};

JsonReader::JsonReader() : impl_(std::make_unique<Impl>()) {}
JsonReader::~JsonReader() = default;

absl::Status JsonReader::ReadObject(std::string& text, JsonValue::FieldFn fn, IfCut if_cut) {
  return impl_->Read(text, if_cut, [&] { return EachField(nullptr, impl_->document.get_object(), fn); });
}

absl::Status JsonReader::ReadArray(std::string& text, JsonValue::ItemFn fn) {
  return impl_->Read(text, IfCut::kFail, [&] { return EachItem(nullptr, impl_->document.get_array(), fn); });
}

size_t JsonReader::error_offset() const { return impl_->error_offset; }

}  // namespace taut
