// For tests: waits for what other threads or processes do.
#pragma once

#include <chrono>
#include <thread>

namespace taut {

// Asks every millisecond until the condition holds; false if it does not within `most`, which is long enough to be
// sure that it never will.
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
