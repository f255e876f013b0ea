#include "server/api/router.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "server/api/pages.h"

namespace taut::server {
namespace {

constexpr std::string_view kOfJob = "/api/v1/jobs/{job}";

}  // namespace

bool Route::is_of_job() const { return path.starts_with(kOfJob); }

std::vector<std::string_view> RouteTable::paths() const {
  std::vector<std::string_view> out = open_paths_;
  for (const Route& route : routes_) out.push_back(route.path);
  return out;
}

HttpResponse Router::Handle(const HttpRequest& request) const {
  const double start_s = parts_.steady_s != nullptr ? parts_.steady_s() : 0;
  HttpResponse response = Answer(request);
  if (parts_.audit != nullptr) parts_.audit->LogRequest(request, response);
  if (parts_.steady_s != nullptr) times_.Note(request, parts_.steady_s() - start_s);
  return response;
}

HttpResponse Router::Answer(const HttpRequest& request) const {
  for (const RouteTable::OpenHandler& open : table_.open()) {
    if (std::optional<HttpResponse> response = open(request); response.has_value())
      return *std::move(response);
  }
  if (request.role == Role::kNone)
    return ErrorResponse(401, "authentication required: send the header Authorization: Bearer TOKEN");
  return AnswerOf(request);
}

HttpResponse Router::AnswerOf(const HttpRequest& request) const {
  bool other_method = false;
  for (const Route& route : table_.routes()) {
    if (route.is_of_job() || !FitsPath(route.path, request)) continue;
    if (route.method != request.method) {
      other_method = true;
      continue;
    }
    if (!May(request, route.act)) return ErrorResponse(403, RefusalText(request, route.act));
    return route.handler({request, access_.ReachOf(request, route.act)});
  }
  // No route has this path, but it may be the path of a file.
  if (!May(request, Act::kLook)) return ErrorResponse(403, RefusalText(request, Act::kLook));
  if (other_method)
    return ErrorResponse(405,
                         StrCat(ShortText(request.path), " does not support ", ShortText(request.method)));
  if (request.segments.size() >= 4 && request.path.starts_with("/api/v1/jobs/")) return AnswerOfJob(request);
  if (request.method == "GET") return PageFile(request.path, parts_.pages);
  return ErrorResponse(
      404, StrCat("there is no ", ShortText(request.path), "; the API is described in /api/v1/openapi.yaml"));
}

HttpResponse Router::AnswerOfJob(const HttpRequest& request) const {
  const std::string_view what = request.segments.size() > 4 ? std::string_view(request.segments[4]) : "";
  const std::string path = StrCat(kOfJob, what.empty() ? "" : "/", what);
  const auto route = std::ranges::find_if(table_.routes(), [&](const Route& r) {
    return r.method == request.method && r.path == path && request.segments.size() == (what.empty() ? 4 : 5);
  });
  const bool is_there = route != table_.routes().end();
  if (is_there && !May(request, route->act)) return ErrorResponse(403, RefusalText(request, route->act));
  // If the caller may see the job but not change it, respond with 403 instead of 404.
  const Reach seen = access_.ReachOf(request, Act::kSeeJobs);
  const std::optional<JobId> id = access_.FindJob(request.segments[3], seen);
  if (!id.has_value()) return access_.NoJob(request.segments[3], seen);
  if (!is_there) {
    return ErrorResponse(404, StrCat("a job has usage, replicas, explain, settings and whatif; not ",
                                     request.method, " ", what));
  }
  const Reach reach = access_.ReachOf(request, route->act);
  if (!access_.Reaches(reach, *id)) return ErrorResponse(403, RefusalText(request, route->act));
  return route->handler({request, reach, *id});
}

}  // namespace taut::server
