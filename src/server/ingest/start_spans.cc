#include "server/ingest/start_spans.h"

#include <algorithm>
#include <cmath>

namespace taut::server {
namespace {

constexpr int64_t kClocksApartMs = 60'000;
constexpr double kMostSeconds = 1e11;  // greatest Unix time, so that milliseconds fit in int64_t

}  // namespace

void FindStartSpans(std::span<const FoldSeries> series, int64_t startup_ms, int64_t begin_ms, int64_t end_ms,
                    std::vector<StartSpan>& out) {
  out.clear();
  for (const FoldSeries& s : series) {
    if (s.binding->kind != SeriesKind::kStartTime) continue;
    for (const RemoteSample& sample : s.samples) {
      const double seconds = sample.value * s.binding->scale;
      if (IsStaleMarker(sample.value) || !(seconds > 0 && seconds < kMostSeconds)) continue;
      const int64_t start_ms = std::llround(seconds * 1000);
      if (start_ms > sample.timestamp_ms + kClocksApartMs) continue;
      const StartSpan span{std::max(begin_ms, start_ms), std::min(end_ms, start_ms + startup_ms)};
      if (span.begin_ms >= span.end_ms) continue;
      if (out.empty() || out.back() != span) out.push_back(span);
    }
  }
  if (out.size() > 1) CloseGaps(begin_ms, end_ms, 0, out);
}

void CloseGaps(int64_t begin_ms, int64_t end_ms, int64_t least_ms, std::vector<StartSpan>& spans) {
  if (spans.empty()) return;
  std::ranges::sort(spans, {}, &StartSpan::begin_ms);
  if (spans.front().begin_ms - begin_ms < least_ms) spans.front().begin_ms = begin_ms;
  size_t last = 0;
  for (size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].begin_ms - spans[last].end_ms < std::max<int64_t>(least_ms, 1)) {
      spans[last].end_ms = std::max(spans[last].end_ms, spans[i].end_ms);
    } else {
      spans[++last] = spans[i];
    }
  }
  spans.resize(last + 1);
  if (end_ms - spans.back().end_ms < least_ms) spans.back().end_ms = end_ms;
}

}  // namespace taut::server
