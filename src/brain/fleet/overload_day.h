// Windows of the last day in which a scaled job was overloaded.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "common/base/bytes.h"
#include "common/base/time.h"

namespace taut::brain {

// Measured and overloaded windows among the 288 windows up to the last measured window. An object has 90 bytes.
class OverloadDay {
 public:
  // Adds a window; ignores a window that is not after last().
  void Add(WindowId window, bool overloaded) {
    if (window.index <= last_) return;
    const int64_t first = std::max<int64_t>(int64_t{last_} + 1, int64_t{window.index} - kWindowsPerDay + 1);
    for (int64_t w = first; w <= window.index; ++w) {
      Set(measured_, w, false);
      Set(overloaded_, w, false);
    }
    last_ = window.index;
    Set(measured_, window.index, true);
    Set(overloaded_, window.index, overloaded);
    now_ = overloaded;
  }
  uint32_t windows() const { return Count(measured_); }
  uint32_t overloaded() const { return Count(overloaded_); }
  bool now() const { return now_; }  // true if the window last() was overloaded
  // Returns the last measured window; INT32_MIN: none.
  WindowId last() const { return WindowId{last_}; }

  void Save(ByteWriter& out) const {
    out.Put(last_);
    out.Put(static_cast<uint8_t>(now_ ? 1 : 0));
    for (const Bits* bits : {&measured_, &overloaded_}) {
      for (const uint64_t word : *bits) out.Put(word);
    }
  }
  // Reads the bytes that Save wrote. Returns DataLoss, and changes nothing, for bytes that Save cannot have
  // written.
  absl::Status Load(ByteReader& in) {
    OverloadDay read;
    read.last_ = in.Get<int32_t>();
    read.now_ = in.Get<uint8_t>() != 0;
    for (Bits* bits : {&read.measured_, &read.overloaded_}) {
      for (uint64_t& word : *bits) word = in.Get<uint64_t>();
    }
    if (absl::Status s = in.status("the overloaded windows of a job"); !s.ok()) return s;
    for (size_t i = 0; i < kWords; ++i) {
      if ((read.overloaded_[i] & ~read.measured_[i]) != 0)
        return absl::DataLossError("the overloaded windows of a job: one that was not measured");
    }
    *this = read;
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kWords = (kWindowsPerDay + 63) / 64;
  using Bits = std::array<uint64_t, kWords>;

  static void Set(Bits& bits, int64_t window, bool value) {
    const auto at = static_cast<size_t>((window % kWindowsPerDay + kWindowsPerDay) % kWindowsPerDay);
    const uint64_t bit = uint64_t{1} << at % 64;
    bits[at / 64] = value ? bits[at / 64] | bit : bits[at / 64] & ~bit;
  }
  static uint32_t Count(const Bits& bits) {
    int sum = 0;
    for (const uint64_t word : bits) sum += std::popcount(word);
    return static_cast<uint32_t>(sum);
  }

  int32_t last_ = INT32_MIN;
  bool now_ = false;
  Bits measured_{}, overloaded_{};  // bits by window mod 288
};

}  // namespace taut::brain
