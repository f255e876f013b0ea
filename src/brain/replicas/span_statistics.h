// Statistics of the load, or of a named signal, over the last minutes. Stores the samples of the longest
// span.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "brain/replicas/stored_values.h"
#include "brain/replicas/target_expression.h"
#include "common/base/bytes.h"

namespace taut::brain {

// Stores the highest sample of each slot. A slot is as long as the step between two decisions, or longer if a
// span would otherwise have more than kMostSlots slots.
class SpanStatistics {
 public:
  static constexpr int64_t kMostSlots = 14 * 1440;

  SpanStatistics(std::span<const LoadSpan> spans, double step_s);

  // Adds a sample with load >= 0. Times must ascend.
  void Observe(int64_t at_s, double load);
  // Returns the statistic of each span, over (now - span, now], where now is the time of the last sample. Absent
  // samples do not count. With a history shorter than a span, the statistic covers the history. Valid until the
  // next call. O(samples). REQUIRES: Observe was called.
  std::span<const double> Values();

  int64_t slot_s() const { return slot_s_; }
  // Save appends the samples. Load restores an object with equal spans and slots.
  void Save(ByteWriter& out) const;
  // If `in` fails, the object must not be used.
  void Load(StoredValues& in);
  size_t heap_bytes() const;

 private:
  static constexpr double kAbsent = -1;
  double Value(const LoadSpan& span);

  std::vector<LoadSpan> spans_;
  int64_t slot_s_ = 1;
  int64_t last_slot_ = INT64_MIN;
  size_t next_ = 0;             // ring position of the next slot
  std::vector<double> loads_;   // highest load of each slot, as a ring; kAbsent without a sample
  std::vector<double> sorted_;  // scratch buffer for percentiles
  std::vector<double> values_;
};

}  // namespace taut::brain
