// Durations of requests by route, counted in fixed buckets.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/metrics_text.h"
#include "common/net/http.h"

namespace taut::server {

// True if the request's path matches the route's. A name in braces matches any piece: "/api/v1/jobs/{job}".
bool FitsPath(std::string_view path, const HttpRequest& request);

// Thread-safe and lock-free. The routes are fixed, so requests cannot create new ones.
class RouteTimes {
 public:
  // `paths` of the routes may contain duplicates and must outlive the object.
  explicit RouteTimes(const std::vector<std::string_view>& paths);
  // Returns the first path that matches, or "other". O(routes).
  std::string_view RouteOf(const HttpRequest& request) const { return routes_[IndexOf(request)]; }
  void Note(const HttpRequest& request, double seconds);
  // Writes tautd_http_request_duration_seconds for the routes that had requests.
  void Put(MetricsText& out) const;

 private:
  static constexpr std::array<double, 12> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                     0.1,   0.25,   0.5,   1,    2.5,   10};
  struct Times {
    std::array<std::atomic<uint64_t>, kBounds.size() + 1> counts{};
    std::atomic<uint64_t> microseconds{0};
  };
  size_t IndexOf(const HttpRequest& request) const;

  std::vector<std::string_view> routes_;  // "other" first, then each path once
  std::vector<Times> times_;              // by index of routes_
};

}  // namespace taut::server
