// A hold: the number of tasks does not change because the policy cannot decide it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace taut::brain {

// kNotMeasured: the load or a signal that the policy reads is missing; also while the safe count runs.
// kNoNumber: the policy's result is not a number of tasks.
enum class HoldCause : uint8_t { kNone, kNotMeasured, kNoNumber };
inline constexpr std::array<HoldCause, 2> kHoldCauses = {HoldCause::kNotMeasured, HoldCause::kNoNumber};

constexpr std::string_view Name(HoldCause cause) {
  constexpr std::string_view kNames[] = {"none", "not_measured", "no_number"};
  return kNames[static_cast<size_t>(cause)];
}

// A hold in force, or no hold (kNone).
struct ReplicaHold {
  HoldCause cause = HoldCause::kNone;
  int64_t since_s = 0;  // end of the first window, seconds since the epoch; 0 without a cause

  bool holds() const { return cause != HoldCause::kNone; }
};

// A change of a hold: the hold began, its cause changed, or (kNone) the hold ended.
struct ReplicaHoldChange {
  HoldCause cause = HoldCause::kNone;
  int64_t time_s = 0;    // end of the window, seconds since the epoch
  int64_t since_s = 0;   // start of the hold that begins or ends
  int tasks = 0;         // recommended now
  std::string sentence;  // reason for people; "" at the end of a hold
};

}  // namespace taut::brain
