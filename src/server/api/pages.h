// The files compiled into the program: the dashboard and the API's description.
#pragma once

#include <string_view>

#include "common/net/http.h"

namespace taut::server {

// True if the dashboard was built in.
bool HasPages();
// Returns a file, or 404. `pages` false: the dashboard is disabled.
HttpResponse PageFile(std::string_view path, bool pages);

}  // namespace taut::server
