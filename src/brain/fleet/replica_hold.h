// A number of tasks that stays as it is because its policy cannot decide it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace taut::brain {

// kNotMeasured: the load or a signal that the policy reads; also while the safe count runs. kNoNumber: what the
// policy computes is not a number of tasks.
enum class HoldCause : uint8_t { kNone, kNotMeasured, kNoNumber };
inline constexpr std::array<HoldCause, 2> kHoldCauses = {HoldCause::kNotMeasured, HoldCause::kNoNumber};

constexpr std::string_view Name(HoldCause cause) {
  constexpr std::string_view kNames[] = {"none", "not_measured", "no_number"};
  return kNames[static_cast<size_t>(cause)];
}

struct ReplicaHold {
  HoldCause cause = HoldCause::kNone;
  int64_t since_s = 0;  // the end of the first window; 0 without a cause

  bool holds() const { return cause != HoldCause::kNone; }
};

// One began, or another cause took its place, or (kNone) it is over.
struct ReplicaHoldChange {
  HoldCause cause = HoldCause::kNone;
  int64_t time_s = 0;    // the end of the window
  int64_t since_s = 0;   // of what is over or begins
  int tasks = 0;         // as recommended now
  std::string sentence;  // why, for people; "" when it is over
};

}  // namespace taut::brain
