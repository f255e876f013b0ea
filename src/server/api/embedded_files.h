// Files that are compiled into the program: the API's description and the dashboard.
#pragma once

#include <span>
#include <string_view>

namespace taut::server {

struct EmbeddedFile {
  std::string_view path;  // path such as "/index.html"
  std::string_view bytes;
};
// Returns all files, "/api/v1/openapi.yaml" first. "/index.html" exists only if the dashboard was built.
std::span<const EmbeddedFile> EmbeddedFiles();

}  // namespace taut::server
