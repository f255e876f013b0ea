#include "server/api/route_times.h"

#include <algorithm>

#include "common/base/strings.h"

namespace taut::server {
namespace {

std::vector<std::string_view> EachOnce(const std::vector<std::string_view>& paths) {
  std::vector<std::string_view> out = {"other"};
  for (const std::string_view path : paths) {
    if (std::find(out.begin(), out.end(), path) == out.end()) out.push_back(path);
  }
  return out;
}

}  // namespace

bool FitsPath(std::string_view path, const HttpRequest& request) {
  if (path.find('{') == std::string_view::npos) return path == request.path;
  const std::vector<std::string_view> pieces = Split(path.substr(1), '/');
  if (pieces.size() != request.segments.size()) return false;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].starts_with('{') && pieces[i] != request.segments[i]) return false;
  }
  return true;
}

RouteTimes::RouteTimes(const std::vector<std::string_view>& paths)
    : routes_(EachOnce(paths)), times_(routes_.size()) {}

size_t RouteTimes::IndexOf(const HttpRequest& request) const {
  const auto found = std::find_if(routes_.begin() + 1, routes_.end(),
                                  [&](std::string_view path) { return FitsPath(path, request); });
  return found == routes_.end() ? 0 : static_cast<size_t>(found - routes_.begin());
}

void RouteTimes::Note(const HttpRequest& request, double seconds) {
  Times& times = times_[IndexOf(request)];
  const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin();
  times.counts[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  times.microseconds.fetch_add(static_cast<uint64_t>(std::max(seconds, 0.0) * 1e6),
                               std::memory_order_relaxed);
}

void RouteTimes::Put(MetricsText& out) const {
  for (size_t i = 0; i < routes_.size(); ++i) {
    std::array<uint64_t, kBounds.size() + 1> counts{};
    uint64_t all = 0;
    for (size_t b = 0; b < counts.size(); ++b)
      all += counts[b] = times_[i].counts[b].load(std::memory_order_relaxed);
    if (all == 0) continue;
    out.Histogram("tautd_http_request_duration_seconds",
                  "From a request's last byte to its answer, by route; of an event stream to its beginning.",
                  kBounds, counts,
                  static_cast<double>(times_[i].microseconds.load(std::memory_order_relaxed)) / 1e6,
                  {{"route", routes_[i]}});
  }
}

}  // namespace taut::server
