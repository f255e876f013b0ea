// How long requests take, by route: counts in fixed buckets.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/metrics_text.h"
#include "common/net/http.h"

namespace taut::server {

// Whether the path of a route is that of the request. A name in braces is any piece: "/api/v1/jobs/{job}".
bool FitsPath(std::string_view path, const HttpRequest& request);

// Thread-safe, without locks. The number of routes is fixed: what clients ask for makes none.
class RouteTimes {
 public:
  // `paths`: those of the routes, once or several times each, which outlive it.
  explicit RouteTimes(const std::vector<std::string_view>& paths);
  // The first of the paths that fits; "other" if none does.
  std::string_view RouteOf(const HttpRequest& request) const { return routes_[IndexOf(request)]; }
  void Note(const HttpRequest& request, double seconds);
  // tautd_http_request_duration_seconds, of the routes that were asked for.
  void Put(MetricsText& out) const;

 private:
  static constexpr std::array<double, 12> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                     0.1,   0.25,   0.5,   1,    2.5,   10};
  struct Times {
    std::array<std::atomic<uint64_t>, kBounds.size() + 1> counts{};
    std::atomic<uint64_t> microseconds{0};
  };
  size_t IndexOf(const HttpRequest& request) const;

  std::vector<std::string_view> routes_;  // each once, behind "other"
  std::vector<Times> times_;              // of each
};

}  // namespace taut::server
