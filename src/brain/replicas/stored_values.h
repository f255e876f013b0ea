// Checks of figures in stored states. The checks are required because bytes with a valid checksum may still come
// from another program.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "common/base/bytes.h"
#include "common/base/strings.h"
#include "common/base/time.h"

namespace taut::brain {

// Bound on the number of windows; far more than any horizon or deferral contains.
inline constexpr size_t kMostStoredWindows = 10'000'000;
inline constexpr int kMostStoredTasks = 1'000'000'000;

// Appends an optional value in 9 bytes.
inline void PutOptional(std::optional<int64_t> value, ByteWriter& out) {
  out.Put(static_cast<uint8_t>(value.has_value()));
  out.Put(value.value_or(0));
}

// Reads values within inclusive bounds. After the first value outside its bounds the object fails permanently, so
// that a caller can check status() once at the end.
class StoredValues {
 public:
  explicit StoredValues(ByteReader& in) : in_(&in) {}

  template <typename T>
  T Within(T least, T most) {
    const T value = in_->Get<T>();
    if (value >= least && value <= most) return value;  // the condition is false for NaN
    possible_ = false;
    return least;
  }
  double Finite() { return Within(-kLargest, kLargest); }
  double Amount() { return Within(0.0, kLargest); }
  // Reads a number of tasks.
  int Count() { return Within(0, kMostStoredTasks); }
  bool Bool() { return Within<uint8_t>(0, 1) == 1; }
  Timestamp Time() { return {Within(-kFarUs, kFarUs)}; }
  // Reads the number of a step: a time divided by a second or a longer unit.
  int64_t Step() { return Within(-kFarStep, kFarStep); }
  // Reads a step that PutOptional wrote.
  std::optional<int64_t> OptionalStep() { return Optional(kFarStep); }
  std::optional<Timestamp> OptionalTime() {
    const std::optional<int64_t> us = Optional(kFarUs);
    return us.has_value() ? std::optional(Timestamp{*us}) : std::nullopt;
  }
  // Reads the number of following values, at most `most`; returns 0 after a failure, so that loops end.
  size_t Size(size_t most) {
    const uint64_t size = in_->GetVarint();
    possible_ = possible_ && size <= most;
    return ok() ? static_cast<size_t>(size) : 0;
  }
  template <typename T>
  void Fill(std::span<T> values, T least, T most) {
    for (T& v : values) v = Within(least, most);
  }

  void Require(bool possible) { possible_ = possible_ && possible; }
  bool ok() const { return possible_ && !in_->failed(); }
  // Returns DataLoss "WHAT: ..." after a failure, else OK.
  absl::Status status(std::string_view what) const {
    if (in_->failed()) return in_->status(what);
    return possible_ ? absl::OkStatus() : absl::DataLossError(StrCat(what, ": invalid value"));
  }

 private:
  std::optional<int64_t> Optional(int64_t most) {
    const bool has_value = Bool();
    const int64_t value = Within(-most, most);
    return has_value ? std::optional(value) : std::nullopt;
  }

  static constexpr double kLargest = std::numeric_limits<double>::max();
  // Bound on times in microseconds, about 3,000 years.
  static constexpr int64_t kFarUs = 100'000'000'000'000'000;
  static constexpr int64_t kFarStep = kFarUs / kMicrosPerSecond;

  ByteReader* in_;
  bool possible_ = true;
};

}  // namespace taut::brain
