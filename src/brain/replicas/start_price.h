// Adapts the price of a start, so that a job makes about as many starts as the HPA would.
#pragma once

#include <array>

#include "brain/replicas/stored_values.h"
#include "common/base/bytes.h"

namespace taut::brain {

// Follows the count of an HPA with a target of 70 % for the same load. More starts than the HPA's raise the price,
// fewer starts lower it, between half and twice the set price. Not thread-safe.
class StartPrice {
 public:
  // Adds a step of `step_s` seconds with a load of `tasks` tasks, and the number of tasks that the job started.
  // `usual` is the mean number of busy tasks.
  void Observe(double tasks, int started, double usual, double step_s);
  // Returns the price relative to the set price.
  double Factor() const;

  void Save(ByteWriter& out) const;
  void Load(StoredValues& in);

 private:
  static constexpr size_t kMostWindow = 5;

  std::array<int, kMostWindow> asked_{};  // latest proposals of the HPA; the last is the newest
  int count_ = 0;                         // count of the HPA; 0: nothing was observed
  double week_starts_ = 0;                // starts of the HPA, decayed over a week
  double log_factor_ = 0;
};

}  // namespace taut::brain
