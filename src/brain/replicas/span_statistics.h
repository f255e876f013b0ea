// Statistics of the load, or of a named signal, of the last minutes: samples are kept for the longest span.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "brain/replicas/stored_values.h"
#include "brain/replicas/target_expression.h"
#include "common/base/bytes.h"

namespace taut::brain {

// Of several samples of one slot the highest counts. A slot is as long as the step between two decisions, and
// longer where a span would have more than kMostSlots.
class SpanStatistics {
 public:
  static constexpr int64_t kMostSlots = 14 * 1440;

  SpanStatistics(std::span<const LoadSpan> spans, double step_s);

  // Samples in ascending order of time; load >= 0.
  void Observe(int64_t at_s, double load);
  // Of each span, up to the last sample, which is in it: (now - span, now]. Absent samples do not count; where
  // there is less history, what there is. Good until the next call. After an Observe. O(samples).
  std::span<const double> Values();

  int64_t slot_s() const { return slot_s_; }
  // Load reads what Save of an object with the same spans and slots wrote.
  void Save(ByteWriter& out) const;
  // After a failure of `in` the object is not to be used.
  void Load(StoredValues& in);
  size_t heap_bytes() const;

 private:
  static constexpr double kAbsent = -1;
  double Value(const LoadSpan& span);

  std::vector<LoadSpan> spans_;
  int64_t slot_s_ = 1;
  int64_t last_slot_ = INT64_MIN;
  size_t next_ = 0;             // where the slot after the last one goes
  std::vector<double> loads_;   // a ring of slots
  std::vector<double> sorted_;  // for a percentile
  std::vector<double> values_;
};

}  // namespace taut::brain
