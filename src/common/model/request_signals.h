// Stores the owner's requests of a window of history in its day, as signals whose names no rule can produce.
// Requests are kept besides limits because a cluster bills them.
#pragma once

#include <span>

#include "common/model/closed_window.h"

namespace taut {

// Adds the requests to the signals of the day's last window, ordered by name. Skips absent ones.
void PutRequests(const OwnerRequests& requests, JobDay& day);
// Returns the requests among a window's signals; absent where none was stored.
OwnerRequests RequestsOf(std::span<const NamedSignal> signals);

}  // namespace taut
