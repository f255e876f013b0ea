// What a job runs while something that its number of tasks is decided from is not measured: a load that is not
// seen may be high, so that after a time the highest count of a day is safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "brain/replicas/replica_policy.h"
#include "common/base/bytes.h"

namespace taut::brain {

// The highest count of the day on which all was last measured and of the day before. Times are in seconds since
// 1970, ascending; one at midnight belongs to the day that ends.
class SafeCount {
 public:
  // All was measured, and `count` was recommended.
  void TakeHeard(int64_t at_s, int count);
  bool has_heard() const { return heard_s_ != INT64_MIN; }
  // When all was last measured; only if has_heard().
  int64_t heard_s() const { return heard_s_; }
  // 0: nothing has been heard.
  int count() const;
  // Absent: it has not been silent for `silent_s` seconds.
  std::optional<int> After(int64_t at_s, double silent_s) const;

  void Save(ByteWriter& out) const;
  // DataLoss: bytes that Save cannot have written; then it is unchanged.
  absl::Status Load(ByteReader& in);

 private:
  std::array<int, 2> highest_{};
  int64_t heard_s_ = INT64_MIN;
};

// "the load and queue_length": what `sample` lacks of what `policy` reads; "" if nothing.
std::string MissingText(const ReplicaPolicy& policy, const LoadSample& sample);
// The sentence of a reason: why a count of `safe` tasks is not that of the policy, before the policy's own.
std::string SafeSentence(std::string_view missing, double silent_s, int safe);

// `inner`, raised to the safe count after `silent_s` seconds in which a sample lacked something. For replays: a
// live job has its silence noted outside of the policy, as nothing may be measured of it at all.
std::unique_ptr<ReplicaPolicy> WithSafeCount(std::unique_ptr<ReplicaPolicy> inner, double silent_s);

}  // namespace taut::brain
