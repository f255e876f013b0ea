// Stores the owner's requests of a window of history in its day, as signals whose names no rule can produce.
// Requests are stored in addition to limits because a cluster bills requests.
#pragma once

#include <span>

#include "common/model/closed_window.h"

namespace taut {

// Adds the requests to the signals of the day's last window, ordered by name. Skips absent requests.
void PutRequests(const OwnerRequests& requests, JobDay& day);
// Returns the requests among a window's signals. A request that was not stored is absent.
OwnerRequests RequestsOf(std::span<const NamedSignal> signals);

}  // namespace taut
