// JSON from outside, read in one pass: a caller walks the fields and items that it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace taut {

enum class JsonKind : uint8_t { kNull, kBool, kNumber, kText, kArray, kObject };

// A value, valid during the call that passes it, to be read once; one that is not read is skipped, and nothing
// of it but its brackets and quotes is checked. Errors name its path ("data.result[3].metric: expected a text")
// and leave `out` as it was:
//   InvalidArgument  it is of another kind
//   OutOfRange       it is a number that `out` cannot hold, or that is not well formed
//   DataLoss         the text is not JSON
class JsonValue {
 public:
  using FieldFn = absl::FunctionRef<absl::Status(std::string_view key, JsonValue value)>;
  using ItemFn = absl::FunctionRef<absl::Status(JsonValue value)>;

  struct Place;  // where it is, inside json_walk.cc
  explicit JsonValue(Place& place) : place_(&place) {}

  absl::Status ReadKind(JsonKind& out) const;  // may be followed by another Read
  absl::Status Read(bool& out) const;
  absl::Status Read(int64_t& out) const;
  absl::Status Read(double& out) const;
  absl::Status Read(std::string& out) const;
  absl::Status Read(std::string_view& out) const;  // valid until the reader reads another text
  // Prometheus writes samples as [1435781430.781, "1.5"], values also as "NaN" and "+Inf".
  absl::Status ReadPrometheusNumber(double& out) const;
  absl::Status ReadPrometheusSample(double& time_s, double& value) const;

  // In the order of the text, until `fn` returns an error, which is then returned as it is.
  absl::Status ForEachField(FieldFn fn) const;
  absl::Status ForEachItem(ItemFn fn) const;

  std::string path() const;   // "data.result[3]"
  const char* begin() const;  // of the value, in the text
  // What a caller finds wrong with the value: InvalidArgument with its path.
  absl::Status Error(std::string_view what) const;

 private:
  Place* place_;
};

// One object, one thread; keeps its buffers. A text may be of up to 4 GiB. Values may be nested 1,024 deep
// where a caller walks into them. A text gets room behind its end, which may move it. What follows the value
// is not read.
class JsonReader {
 public:
  // kReadRest: what there is of a text that was cut off is read before the error; the text may be changed.
  enum class IfCut : uint8_t { kFail, kReadRest };

  JsonReader();
  ~JsonReader();

  absl::Status ReadObject(std::string& text, JsonValue::FieldFn fn, IfCut if_cut = IfCut::kFail);
  absl::Status ReadArray(std::string& text, JsonValue::ItemFn fn);
  // After an error: the offset in the text at which it was found.
  size_t error_offset() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut
