// Reads untrusted JSON in one pass: a caller visits only the fields and items that it needs.
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

// A JSON value. Valid during the callback that receives the value; may be read once. A value that is not read is
// skipped: only its brackets and quotes are checked. Errors contain the value's path ("data.result[3].metric:
// expected a text") and leave `out` unchanged:
//   InvalidArgument  the value is of another kind
//   OutOfRange       a number does not fit `out` or is not well-formed
//   DataLoss         the text is not JSON
class JsonValue {
 public:
  using FieldFn = absl::FunctionRef<absl::Status(std::string_view key, JsonValue value)>;
  using ItemFn = absl::FunctionRef<absl::Status(JsonValue value)>;

  struct Place;  // position in the text; defined in json_walk.cc
  explicit JsonValue(Place& place) : place_(&place) {}

  absl::Status ReadKind(JsonKind& out) const;  // the value may still be read afterwards
  absl::Status Read(bool& out) const;
  absl::Status Read(int64_t& out) const;
  absl::Status Read(double& out) const;
  absl::Status Read(std::string& out) const;
  absl::Status Read(std::string_view& out) const;  // valid until the reader reads another text
  // Read a number or a sample in the notation of Prometheus. A number is a text such as "1.5", "NaN" or "+Inf"; a
  // sample is an array of time and number: [1435781430.781, "1.5"].
  absl::Status ReadPrometheusNumber(double& out) const;
  absl::Status ReadPrometheusSample(double& time_s, double& value) const;

  // Call `fn` for each field or item in the order of the text. The first error of `fn` ends the walk and is
  // returned unchanged.
  absl::Status ForEachField(FieldFn fn) const;
  absl::Status ForEachItem(ItemFn fn) const;

  std::string path() const;   // path such as "data.result[3]"
  const char* begin() const;  // first byte of the value, in the text
  // Returns InvalidArgument with the value's path, for a value that the caller rejects.
  absl::Status Error(std::string_view what) const;

 private:
  Place* place_;
};

// Parses texts of up to 4 GiB and reuses its buffers. Not thread-safe. A caller can descend 1,024 levels. The
// text must outlive the walk. The reader adds spare capacity to the text, which may move its bytes. Text
// behind the root value is not read.
class JsonReader {
 public:
  // kReadRest reads the complete part of a truncated object before it returns DataLoss, and may change the text.
  enum class IfCut : uint8_t { kFail, kReadRest };

  JsonReader();
  ~JsonReader();

  // Parse the text and call `fn` for each field of the root object, or item of the root array. Return the errors
  // of JsonValue.
  absl::Status ReadObject(std::string& text, JsonValue::FieldFn fn, IfCut if_cut = IfCut::kFail);
  absl::Status ReadArray(std::string& text, JsonValue::ItemFn fn);
  // Returns the offset of the last error in the text.
  size_t error_offset() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut
