// Number of tasks of a job while an input of its policy is not measured. An unmeasured load may be high, so that
// after some time the highest count of the last days is the safe choice.
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

// The highest count of the last day on which all inputs were measured, and of the day before. Times are Unix
// seconds in ascending order; midnight belongs to the day that ends.
class SafeCount {
 public:
  // Records a recommendation that was based on complete inputs.
  void TakeHeard(int64_t at_s, int count);
  bool has_heard() const { return heard_s_ != INT64_MIN; }
  // Returns the time when all inputs were last measured. REQUIRES: has_heard().
  int64_t heard_s() const { return heard_s_; }
  // Returns the highest recorded count of the day of heard_s() and of the day before; 0 before the first
  // TakeHeard.
  int count() const;
  // Returns the safe count; nullopt if inputs were missing for less than `silent_s` seconds.
  std::optional<int> After(int64_t at_s, double silent_s) const;

  void Save(ByteWriter& out) const;
  // Returns DataLoss, and changes nothing, for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in);

 private:
  std::array<int, 2> highest_{};
  int64_t heard_s_ = INT64_MIN;
};

// Returns the inputs of `policy` that `sample` lacks, such as "the load and queue_length"; "" if no input is
// missing.
std::string MissingText(const ReplicaPolicy& policy, const LoadSample& sample);
// Returns the sentence that explains a count of `safe` tasks. It precedes the policy's own sentence.
std::string SafeSentence(std::string_view missing, double silent_s, int safe);

// Wraps `inner` and raises its count to the safe count after `silent_s` seconds of incomplete samples. For
// replays only: a live job without measurements may have no samples, so that the caller must track the silence.
std::unique_ptr<ReplicaPolicy> WithSafeCount(std::unique_ptr<ReplicaPolicy> inner, double silent_s);

}  // namespace taut::brain
