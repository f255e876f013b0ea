// What the gates of limits and of task numbers share, in this room only.
#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "brain/rollout/gate.h"

namespace taut::brain {

// A verdict that does nothing, with the reason.
inline Verdict Hold(std::string sentence) {
  Verdict verdict;
  verdict.sentence = std::move(sentence);
  return verdict;
}

// The whole number that a product of shares means: rounding may have left it a hair below.
inline double WholePart(double product) { return std::floor(product + 1e-9); }

}  // namespace taut::brain
