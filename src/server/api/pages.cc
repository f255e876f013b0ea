#include "server/api/pages.h"

#include <utility>

#include "common/base/strings.h"
#include "server/api/embedded_files.h"
#include "server/api/routes.h"

namespace taut::server {
namespace {

std::string_view ContentTypeOf(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},   {".svg", "image/svg+xml"},
      {".yaml", "application/yaml"},         {".json", "application/json"}};
  for (const auto& [suffix, type] : kTypes) {
    if (path.ends_with(suffix)) return type;
  }
  return "application/octet-stream";
}

}  // namespace

bool HasPages() {
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.path == "/index.html") return true;
  }
  return false;
}

HttpResponse PageFile(std::string_view path, bool pages) {
  const std::string_view wanted = path == "/" ? std::string_view("/index.html") : path;
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.path != wanted) continue;
    if (!pages && !wanted.starts_with("/api/")) break;
    HttpResponse response;
    response.content_type = ContentTypeOf(wanted);
    response.body = file.bytes;
    // The name of an asset contains a hash of its content, so that caches may keep the asset for ever.
    const bool asset = wanted.starts_with("/assets/");
    response.headers.push_back({"Cache-Control", asset ? "public, max-age=31536000, immutable" : "no-cache"});
    return response;
  }
  if (wanted == "/index.html") {
    return TextResponse(
        404, pages ? "tautd was built without its dashboard, because npm was missing. The API is at /api/v1, "
                     "described in /api/v1/openapi.yaml.\n"
                   : "The dashboard is disabled. The API is at /api/v1.\n");
  }
  return ErrorResponse(404, StrCat("there is no ", path));
}

void AddPageRoutes(bool pages, RouteTable& routes) {
  const auto file = [pages](const ApiCall& call) { return PageFile(call.request.path, pages); };
  routes.Add("GET", "/api/v1/openapi.yaml", Act::kLook, file);
  routes.Add("GET", "/", Act::kLook, file);
  routes.Add("GET", "/assets/{file}", Act::kLook, file);
}

}  // namespace taut::server
