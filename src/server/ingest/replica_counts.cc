#include "server/ingest/replica_counts.h"

#include <algorithm>
#include <cmath>

namespace taut::server {
namespace {

constexpr std::string_view kEachPart = "/*";
constexpr double kMostTasks = 1e9;

WindowId WindowOf(const RemoteSample& sample) { return WindowId::Of(Timestamp{sample.timestamp_ms * 1000}); }

// Returns the name without its last part, without a copy. The result is equal for "shop/deployment/web/app" and
// the pattern "shop/deployment/web/*". Users' rules may name the jobs of a count by such a pattern
// (MappingRule::job), so these jobs need not have a workload.
std::string_view Parent(std::string_view job) {
  const size_t slash = job.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : job.substr(0, slash + 1);
}

}  // namespace

uint32_t ReplicaCounts::Add(std::string_view about, SeriesKind kind, double scale) {
  // The slash at the end distinguishes the prefix from a job of this name.
  std::string key(about.ends_with(kEachPart) ? about.substr(0, about.size() - 1) : about);
  uint32_t number = static_cast<uint32_t>(series_.size());
  if (free_.empty()) {
    series_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  workloads_[key].push_back(number);
  series_[number] = {
      .about = std::move(key), .ready = kind == SeriesKind::kReplicasReady, .scale = scale, .last = {}};
  return number;
}

void ReplicaCounts::See(uint32_t series, const RemoteSample& sample) {
  std::vector<Last>& last = series_[series].last;
  const WindowId window = WindowOf(sample);
  const auto at = std::ranges::find(last, window, &Last::window);
  if (at == last.end()) {
    last.push_back({window, sample});
    return;
  }
  RemoteSample& kept = at->sample;
  // At equal times, a number takes precedence over a stale marker, and the larger number over the smaller.
  const bool stale = IsStaleMarker(sample.value);
  const bool wins = sample.timestamp_ms == kept.timestamp_ms
                        ? !stale && (IsStaleMarker(kept.value) || sample.value > kept.value)
                        : sample.timestamp_ms > kept.timestamp_ms;
  if (wins) kept = sample;
}

void ReplicaCounts::TakeLargest(std::string_view about, WindowId window, SaidReplicas& said) const {
  const auto it = workloads_.find(about);
  if (it == workloads_.end()) return;
  for (const uint32_t number : it->second) {
    const Series& series = series_[number];
    const auto last = std::ranges::find(series.last, window, &Last::window);
    if (last == series.last.end() || IsStaleMarker(last->sample.value)) continue;
    const double value = last->sample.value * series.scale;
    if (!(value >= 0) || value > kMostTasks) continue;
    int& count = series.ready ? said.ready : said.count;
    count = std::max(count, static_cast<int>(std::llround(value)));
  }
}

SaidReplicas ReplicaCounts::Of(std::string_view job, WindowId window) const {
  SaidReplicas said;
  TakeLargest(job, window, said);
  if (!said.known()) {
    said = {};
    TakeLargest(Parent(job), window, said);
  }
  // The number of ready tasks without a total is useless.
  if (!said.known()) return {};
  said.ready = std::min(said.ready, said.count);
  return said;
}

void ReplicaCounts::Keep(WindowId first, WindowId last) {
  for (Series& series : series_) {
    std::erase_if(series.last, [&](const Last& l) { return l.window < first || l.window > last; });
  }
}

void ReplicaCounts::KeepAlive(std::span<const uint8_t> alive) {
  for (uint32_t number = 0; number < series_.size(); ++number) {
    Series& series = series_[number];
    if (alive[number] != 0 || series.about.empty()) continue;
    const auto it = workloads_.find(series.about);
    std::erase(it->second, number);
    if (it->second.empty()) workloads_.erase(it);
    series = {};
    free_.push_back(number);
  }
}

size_t ReplicaCounts::state_bytes() const {
  size_t bytes = series_.capacity() * sizeof(Series) + free_.capacity() * sizeof(uint32_t) +
                 workloads_.capacity() * (sizeof(*workloads_.begin()) + 1);
  for (const Series& s : series_) bytes += 2 * s.about.capacity() + s.last.capacity() * sizeof(Last);
  return bytes;
}

}  // namespace taut::server
