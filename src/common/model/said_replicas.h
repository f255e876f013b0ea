// Stores the numbers of tasks that a series reports in a window, as signals whose names no rule can produce.
#pragma once

#include <span>
#include <vector>

#include "common/model/closed_window.h"

namespace taut {

inline constexpr std::string_view kSaidCount = "_n", kSaidReady = "_r";

// Inserts the numbers into `out` at `first`, before the job's own signals. Returns the number of added signals.
uint32_t PutSaid(const SaidReplicas& said, size_t first, std::vector<NamedSignal>& out);
// Returns the numbers among a window's signals. The result is not known() if the window stores no number.
SaidReplicas SaidOf(std::span<const NamedSignal> signals);

}  // namespace taut
