// The owner's requests beside the limits of a window of history, as a stored day keeps them: as signals with names
// that no rule can give. A cluster bills requests.
#pragma once

#include <span>

#include "common/model/closed_window.h"

namespace taut {

// To the signals of the day's last window, in order of name. Absent requests are left out.
void PutRequests(const OwnerRequests& requests, JobDay& day);
// Of a window's signals; absent where nothing was put.
OwnerRequests RequestsOf(std::span<const NamedSignal> signals);

}  // namespace taut
