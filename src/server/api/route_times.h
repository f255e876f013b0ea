// Counts durations of requests by route, in fixed buckets.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/metrics_text.h"
#include "common/net/http.h"

namespace taut::server {

// Returns true if the path of the request matches `path`. A name in braces matches any piece, as in
// "/api/v1/jobs/{job}".
bool FitsPath(std::string_view path, const HttpRequest& request);

// Counts durations by route. The list of routes is fixed, so that requests cannot add routes. Thread-safe and
// lock-free.
class RouteTimes {
 public:
  // `paths` contains the paths of all routes, possibly with duplicates. Their texts must outlive this object.
  explicit RouteTimes(const std::vector<std::string_view>& paths);
  // Returns the first path that matches the request, or "other". O(routes).
  std::string_view RouteOf(const HttpRequest& request) const { return routes_[IndexOf(request)]; }
  void Note(const HttpRequest& request, double seconds);
  // Writes tautd_http_request_duration_seconds for the routes with requests.
  void Put(MetricsText& out) const;

 private:
  static constexpr std::array<double, 12> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                     0.1,   0.25,   0.5,   1,    2.5,   10};
  struct Times {
    std::array<std::atomic<uint64_t>, kBounds.size() + 1> counts{};
    std::atomic<uint64_t> microseconds{0};
  };
  size_t IndexOf(const HttpRequest& request) const;

  std::vector<std::string_view> routes_;  // "other", followed by each distinct path
  std::vector<Times> times_;              // durations of routes_, by index
};

}  // namespace taut::server
