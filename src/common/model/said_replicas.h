// How many tasks a series says there are, as a window keeps it: as signals with names that no rule can give.
#pragma once

#include <span>
#include <vector>

#include "common/model/closed_window.h"

namespace taut {

inline constexpr std::string_view kSaidCount = "_n", kSaidReady = "_r";

// Before the job's own signals in `out`, from `first` on. Returns how many were added.
uint32_t PutSaid(const SaidReplicas& said, size_t first, std::vector<NamedSignal>& out);
// Of a window's signals; not known where nothing was put.
SaidReplicas SaidOf(std::span<const NamedSignal> signals);

}  // namespace taut
