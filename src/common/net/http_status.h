// HTTP statuses of errors.
#pragma once

#include "absl/status/status.h"
#include "common/net/http.h"

namespace taut {

// Returns the HTTP status that corresponds to the code of an error.
int HttpStatusOf(absl::StatusCode code);
// Returns {"error": text} with the HTTP status of the error.
HttpResponse ErrorResponse(const absl::Status& status);

}  // namespace taut
