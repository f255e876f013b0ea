// The files that are compiled in: the dashboard and the description of the API.
#pragma once

#include <string_view>

#include "common/net/http.h"

namespace taut::server {

// The dashboard is built in.
bool HasPages();
// A file, or 404. `pages` false: the dashboard is disabled.
HttpResponse PageFile(std::string_view path, bool pages);

}  // namespace taut::server
