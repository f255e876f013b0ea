// For tests: waits for a condition that other threads or processes fulfil.
#pragma once

#include <chrono>
#include <thread>

namespace taut {

// Polls the condition every millisecond. Returns true when the condition holds, false if it does not hold
// within `most`.
template <typename Condition>
bool Eventually(Condition&& condition, std::chrono::milliseconds most = std::chrono::minutes(1)) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace taut
