// Serves the files that are compiled into the program: the dashboard and the API's description.
#pragma once

#include <string_view>

#include "common/net/http.h"

namespace taut::server {

// Returns true if the dashboard is compiled in.
bool HasPages();
// Returns a response with the file, or 404. `pages` is false if the dashboard is disabled.
HttpResponse PageFile(std::string_view path, bool pages);

}  // namespace taut::server
