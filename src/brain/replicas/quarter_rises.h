// Rises of the load in each quarter of an hour of the last days, for the explanation of a count.
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

  // Adds a sample. Times must ascend.
  void Observe(Timestamp at, double load);

  struct Answer {
    int days = 0;   // number of the last kDays days, without today, whose rise in this quarter was measured
    int above = 0;  // days on which the rise exceeded `share`
    double share = 0;  // rise that about half of the days exceed; a multiple of 0.1, at least 0.1
  };
  // Returns the rises in the quarter of an hour that contains `at`, which must not precede the last sample.
  Answer At(Timestamp at) const;
  size_t heap_bytes() const { return rises_.capacity() * sizeof(float); }
  void Save(ByteWriter& out) const;
  // Restores the state. If `in` fails, the object must not be used.
  void Load(StoredValues& in);

 private:
  static constexpr float kUnknown = -1;
  float& Rise(int64_t quarter) {
    const int64_t size = kQuartersPerDay * kDays;
    return rises_[static_cast<size_t>(((quarter % size) + size) % size)];
  }
  float Rise(int64_t quarter) const { return const_cast<QuarterRises*>(this)->Rise(quarter); }

  // rise of each quarter: highest load / mean of the previous quarter - 1; kUnknown: not measured
  std::vector<float> rises_;
  int64_t quarter_ = INT64_MIN;  // current quarter since 1970; INT64_MIN: no sample yet
  // sum of the loads in the current quarter; mean of the previous quarter, 0 if unknown
  double sum_ = 0, before_ = 0;
  int samples_ = 0;
};

}  // namespace taut::brain
