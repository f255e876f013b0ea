// A hold: the number of tasks stays because the policy cannot decide it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace taut::brain {

// Cause of a hold. kNotMeasured: the load, or a signal that the policy reads, is missing; also used while the
// safe count is recommended. kNoNumber: the policy's result is not a valid number of tasks.
enum class HoldCause : uint8_t { kNone, kNotMeasured, kNoNumber };
inline constexpr std::array<HoldCause, 2> kHoldCauses = {HoldCause::kNotMeasured, HoldCause::kNoNumber};

constexpr std::string_view Name(HoldCause cause) {
  constexpr std::string_view kNames[] = {"none", "not_measured", "no_number"};
  return kNames[static_cast<size_t>(cause)];
}

// A hold in force, or no hold (kNone).
struct ReplicaHold {
  HoldCause cause = HoldCause::kNone;
  int64_t since_s = 0;  // end of the hold's first window, seconds since the epoch; 0 without a hold

  bool holds() const { return cause != HoldCause::kNone; }
};

// A change of a hold: the hold began, its cause changed, or the hold ended (kNone).
struct ReplicaHoldChange {
  HoldCause cause = HoldCause::kNone;
  int64_t time_s = 0;    // end of the window of the change, seconds since the epoch
  int64_t since_s = 0;   // start of the hold, seconds since the epoch
  int tasks = 0;         // recommended number of tasks
  std::string sentence;  // reason of the hold for people; "" at the end of a hold
};

}  // namespace taut::brain
