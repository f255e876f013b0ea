// Routes of the API, and the router, which rejects callers without the role for a route, and passes the caller's
// reach to the handler.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/net/http.h"
#include "server/api/fleet_access.h"
#include "server/api/route_times.h"
#include "server/auth/audit_log.h"
#include "server/auth/permissions.h"
#include "server/pool/reach.h"

namespace taut::server {

// A request that the caller is permitted to make.
struct ApiCall {
  const HttpRequest& request;
  Reach reach;     // caller's reach for the route's act; nothing outside may be shown or changed
  JobId job = {};  // job in reach, for a route of one job
};
using ApiHandler = std::function<HttpResponse(const ApiCall&)>;

// A path and a method with the permission that they require. A name in braces matches any piece.
struct Route {
  std::string_view method, path;
  Act act;
  ApiHandler handler;

  // Returns true if the path is below /api/v1/jobs/{job}.
  bool is_of_job() const;
};

// The handlers of all routes, which many threads call concurrently.
class RouteTable {
 public:
  // A handler for requests without a role. Returns a response, or nullopt if the handler does not serve the
  // request.
  using OpenHandler = std::function<std::optional<HttpResponse>(const HttpRequest&)>;

  // Adds a route. `method` and `path` must be constants of the program.
  void Add(std::string_view method, std::string_view path, Act act, ApiHandler handler) {
    routes_.push_back({method, path, act, std::move(handler)});
  }
  // Adds a handler for requests without a role. Such handlers are called before the routes, in the order in which
  // they were added. `paths` contains the served paths, which must be constants of the program.
  void AddOpen(std::span<const std::string_view> paths, OpenHandler handler) {
    open_paths_.insert(open_paths_.end(), paths.begin(), paths.end());
    open_.push_back(std::move(handler));
  }
  std::span<const Route> routes() const { return routes_; }
  std::span<const OpenHandler> open() const { return open_; }
  // Returns the paths of routes() and open(), with duplicates.
  std::vector<std::string_view> paths() const;

 private:
  std::vector<Route> routes_;
  std::vector<std::string_view> open_paths_;
  std::vector<OpenHandler> open_;
};

// Checks permissions and calls the handler of a request. Thread-safe.
class Router {
 public:
  struct Parts {
    bool pages = true;               // true: the dashboard is enabled
    AuditLog* audit = nullptr;       // audit log; null: none
    double (*steady_s)() = nullptr;  // steady clock; null: requests are not timed
  };
  // `access` and the objects in `parts` must outlive the router.
  Router(const FleetAccess& access, RouteTable table, Parts parts)
      : access_(access), table_(std::move(table)), parts_(parts), times_(table_.paths()) {}

  HttpResponse Handle(const HttpRequest& request) const;
  // Writes the durations of requests by route.
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
