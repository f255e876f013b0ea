// The API's routes, and the router that checks permissions. A caller without the role for a route is
// rejected; a handler gets the caller's reach.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/net/http.h"
#include "server/api/audit_log.h"
#include "server/api/fleet_access.h"
#include "server/api/reach.h"
#include "server/api/route_times.h"
#include "server/auth/permissions.h"

namespace taut::server {

// A request that the caller may make.
struct ApiCall {
  const HttpRequest& request;
  Reach reach;     // of the caller for the route's act: nothing outside it may be shown or changed
  JobId job = {};  // for a route of one job; it is in reach
};
using ApiHandler = std::function<HttpResponse(const ApiCall&)>;

// A path and method, and the permission they require. A name in braces matches any piece.
struct Route {
  std::string_view method, path;
  Act act;
  ApiHandler handler;

  // True if the path is below /api/v1/jobs/{job}.
  bool is_of_job() const;
};

// Handlers are called concurrently by many threads.
class RouteTable {
 public:
  // Returns a response without checking a role, or nullopt if the request is not one of its own.
  using OpenHandler = std::function<std::optional<HttpResponse>(const HttpRequest&)>;

  // `method` and `path` must be constants of the program.
  void Add(std::string_view method, std::string_view path, Act act, ApiHandler handler) {
    routes_.push_back({method, path, act, std::move(handler)});
  }
  // Adds a handler that is called before all routes, in the order of these calls, and without a role.
  // `paths`, constants of the program, name the paths that it serves.
  void AddOpen(std::span<const std::string_view> paths, OpenHandler handler) {
    open_paths_.insert(open_paths_.end(), paths.begin(), paths.end());
    open_.push_back(std::move(handler));
  }
  std::span<const Route> routes() const { return routes_; }
  std::span<const OpenHandler> open() const { return open_; }
  // Paths of both, each as often as it was added.
  std::vector<std::string_view> paths() const;

 private:
  std::vector<Route> routes_;
  std::vector<std::string_view> open_paths_;
  std::vector<OpenHandler> open_;
};

// Handle is the server's handler and thread-safe.
class Router {
 public:
  struct Parts {
    bool pages = true;               // the dashboard is enabled
    AuditLog* audit = nullptr;       // null: no audit log
    double (*steady_s)() = nullptr;  // null: requests are not timed
  };
  // `access` and the objects in `parts` must outlive it.
  Router(const FleetAccess& access, RouteTable table, Parts parts)
      : access_(access), table_(std::move(table)), parts_(parts), times_(table_.paths()) {}

  HttpResponse Handle(const HttpRequest& request) const;
  // Writes the durations of requests.
  void Collect(MetricsText& out) const { times_.Put(out); }

 private:
  HttpResponse Answer(const HttpRequest& request) const;
  HttpResponse AnswerOf(const HttpRequest& request) const;
  HttpResponse AnswerOfJob(const HttpRequest& request) const;

  const FleetAccess& access_;
  const RouteTable table_;
  const Parts parts_;
  mutable RouteTimes times_;
};

}  // namespace taut::server
