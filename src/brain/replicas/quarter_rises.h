// Rises of the load in each quarter of an hour of the last days, used in the explanation of a count.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "brain/replicas/stored_values.h"
#include "common/base/bytes.h"
#include "common/base/time.h"

namespace taut::brain {

class QuarterRises {
 public:
  static constexpr int64_t kQuarterSeconds = 900;
  static constexpr int64_t kQuartersPerDay = kDaySeconds / kQuarterSeconds;
  static constexpr int64_t kDays = 14;

  QuarterRises() : rises_(static_cast<size_t>(kQuartersPerDay * kDays), kUnknown) {}

  // Adds a sample; times ascend.
  void Observe(Timestamp at, double load);

  struct Answer {
    int days = 0;      // number of the last kDays days, without today, with a measured rise in this quarter
    int above = 0;     // days on which the rise exceeded `share`
    double share = 0;  // a multiple of 0.1 that about half of the days exceed, at least 0.1
  };
  // Returns the rises in the quarter of an hour of `at`, which must not precede the last sample.
  Answer At(Timestamp at) const;
  size_t heap_bytes() const { return rises_.capacity() * sizeof(float); }
  void Save(ByteWriter& out) const;
  // If `in` fails, the object is not to be used.
  void Load(StoredValues& in);

 private:
  static constexpr float kUnknown = -1;
  float& Rise(int64_t quarter) {
    const int64_t size = kQuartersPerDay * kDays;
    return rises_[static_cast<size_t>(((quarter % size) + size) % size)];
  }
  float Rise(int64_t quarter) const { return const_cast<QuarterRises*>(this)->Rise(quarter); }

  std::vector<float> rises_;     // by quarter: highest load over the mean of the previous quarter, minus 1
  int64_t quarter_ = INT64_MIN;  // current quarter
  double sum_ = 0, before_ = 0;  // sum of the current quarter; mean of the previous quarter, 0: unknown
  int samples_ = 0;
};

}  // namespace taut::brain
