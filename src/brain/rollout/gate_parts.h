// Helpers that the gates of limits and of task numbers share. Used in brain/rollout only.
#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "brain/rollout/gate.h"

namespace taut::brain {

// Returns a verdict without a decision. `sentence` explains why.
inline Verdict Hold(std::string sentence) {
  Verdict verdict;
  verdict.sentence = std::move(sentence);
  return verdict;
}

// Returns the integer part of a product of shares, tolerating a rounding error just below an integer.
inline double WholePart(double product) { return std::floor(product + 1e-9); }

}  // namespace taut::brain
