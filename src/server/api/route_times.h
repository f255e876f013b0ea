// How long requests take, by route: counts in fixed buckets.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/base/metrics_text.h"
#include "common/net/http.h"

namespace taut::server {

// Thread-safe, without locks. The number of routes is fixed: what clients ask for makes none.
class RouteTimes {
 public:
  // "/api/v1/jobs/{job}/usage"; "other" for what is no route.
  static std::string_view RouteOf(const HttpRequest& request);
  void Note(std::string_view route, double seconds);
  // tautd_http_request_seconds, of the routes that were asked for.
  void Put(MetricsText& out) const;

 private:
  static constexpr std::array<double, 12> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                     0.1,   0.25,   0.5,   1,    2.5,   10};
  struct Times {
    std::array<std::atomic<uint64_t>, kBounds.size() + 1> counts{};
    std::atomic<uint64_t> microseconds{0};
  };
  std::array<Times, 32> times_;
};

}  // namespace taut::server
