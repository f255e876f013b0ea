#include "server/api/route_times.h"

#include <algorithm>

#include "common/base/strings.h"

namespace taut::server {
namespace {

constexpr std::string_view kRoutes[] = {"other",
                                        "/",
                                        "/assets",
                                        "/healthz",
                                        "/readyz",
                                        "/metrics",
                                        "/api/v1/write",
                                        "/api/v1/fleet",
                                        "/api/v1/fleet/history",
                                        "/api/v1/jobs",
                                        "/api/v1/jobs/{job}",
                                        "/api/v1/jobs/{job}/usage",
                                        "/api/v1/jobs/{job}/explain",
                                        "/api/v1/jobs/{job}/settings",
                                        "/api/v1/jobs/{job}/whatif",
                                        "/api/v1/decisions",
                                        "/api/v1/decisions/{id}",
                                        "/api/v1/ooms",
                                        "/api/v1/tier_acts",
                                        "/api/v1/settings",
                                        "/api/v1/recommenders",
                                        "/api/v1/status",
                                        "/api/v1/agents",
                                        "/api/v1/capacity",
                                        "/api/v1/machines",
                                        "/api/v1/machines/{name}",
                                        "/api/v1/totals",
                                        "/api/v1/events",
                                        "/api/v1/openapi.yaml"};

std::string_view Known(std::string_view path) {
  const auto* const found = std::find(std::begin(kRoutes), std::end(kRoutes), path);
  return found == std::end(kRoutes) ? kRoutes[0] : *found;
}

}  // namespace

std::string_view RouteTimes::RouteOf(const HttpRequest& request) {
  const std::string_view path = request.path;
  if (path.starts_with("/api/v1/jobs/") && request.segments.size() == 4) return Known("/api/v1/jobs/{job}");
  if (path.starts_with("/api/v1/jobs/") && request.segments.size() == 5)
    return Known(StrCat("/api/v1/jobs/{job}/", request.segments[4]));
  if (path.starts_with("/api/v1/decisions/")) return Known("/api/v1/decisions/{id}");
  if (path.starts_with("/api/v1/machines/")) return Known("/api/v1/machines/{name}");
  if (path.starts_with("/assets/")) return Known("/assets");
  return Known(path);
}

void RouteTimes::Note(std::string_view route, double seconds) {
  static_assert(std::size(kRoutes) <= std::tuple_size_v<decltype(times_)>);
  const auto* const found = std::find(std::begin(kRoutes), std::end(kRoutes), route);
  Times& times = times_[found == std::end(kRoutes) ? 0 : static_cast<size_t>(found - std::begin(kRoutes))];
  const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin();
  times.counts[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  times.microseconds.fetch_add(static_cast<uint64_t>(std::max(seconds, 0.0) * 1e6),
                               std::memory_order_relaxed);
}

void RouteTimes::Put(MetricsText& out) const {
  for (size_t i = 0; i < std::size(kRoutes); ++i) {
    std::array<uint64_t, kBounds.size() + 1> counts{};
    uint64_t all = 0;
    for (size_t b = 0; b < counts.size(); ++b)
      all += counts[b] = times_[i].counts[b].load(std::memory_order_relaxed);
    if (all == 0) continue;
    out.Histogram("tautd_http_request_duration_seconds",
                  "From a request's last byte to its answer, by route; of an event stream to its beginning.",
                  kBounds, counts,
                  static_cast<double>(times_[i].microseconds.load(std::memory_order_relaxed)) / 1e6,
                  {{"route", kRoutes[i]}});
  }
}

}  // namespace taut::server
