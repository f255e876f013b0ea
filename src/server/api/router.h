// The routes of the API, and the router that checks who may use them: a caller without the role for a route gets
// no further, and its handler sees only what is in the caller's reach.
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
  Reach reach;     // of the caller, for the act of the route: nothing beyond it may be shown or changed
  JobId job = {};  // of a route of one job: it is in reach
};
using ApiHandler = std::function<HttpResponse(const ApiCall&)>;

// A path and method that are answered, and what they need. A name in braces is any piece.
struct Route {
  std::string_view method, path;
  Act act;
  ApiHandler handler;

  // Below /api/v1/jobs/{job}.
  bool is_of_job() const;
};

// Handlers are called by many threads at once.
class RouteTable {
 public:
  // Answers without a role, or nullopt.
  using OpenHandler = std::function<std::optional<HttpResponse>(const HttpRequest&)>;

  // `method` and `path` are constants of the program.
  void Add(std::string_view method, std::string_view path, Act act, ApiHandler handler) {
    routes_.push_back({method, path, act, std::move(handler)});
  }
  // Adds a handler that is asked before all routes, in the order of these calls, also without a role. `paths`,
  // constants of the program, name what it answers.
  void AddOpen(std::span<const std::string_view> paths, OpenHandler handler) {
    open_paths_.insert(open_paths_.end(), paths.begin(), paths.end());
    open_.push_back(std::move(handler));
  }
  std::span<const Route> routes() const { return routes_; }
  std::span<const OpenHandler> open() const { return open_; }
  // Of both, a path as often as it was added.
  std::vector<std::string_view> paths() const;

 private:
  std::vector<Route> routes_;
  std::vector<std::string_view> open_paths_;
  std::vector<OpenHandler> open_;
};

// Handle is thread-safe: the server's handler.
class Router {
 public:
  struct Parts {
    bool pages = true;               // the dashboard is shown
    AuditLog* audit = nullptr;       // null: nothing is logged
    double (*steady_s)() = nullptr;  // null: requests are not timed
  };
  // `access` and `parts` outlive it.
  Router(const FleetAccess& access, RouteTable table, Parts parts)
      : access_(access), table_(std::move(table)), parts_(parts), times_(table_.paths()) {}

  HttpResponse Handle(const HttpRequest& request) const;
  // The times of requests.
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
