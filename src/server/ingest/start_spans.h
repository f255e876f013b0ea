// Finds the parts of a window in which a task was starting, from series of start times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "server/ingest/remote_write.h"
#include "server/ingest/series_mapper.h"

namespace taut::server {

// One series of a task, with the samples that the fold of a window needs.
struct FoldSeries {
  const SeriesBinding* binding = nullptr;
  // Times are strictly ascending; the first may be before the window and the last after the window.
  std::span<const RemoteSample> samples;
};

struct StartSpan {
  int64_t begin_ms = 0, end_ms = 0;
  bool operator==(const StartSpan&) const = default;
};

// Sets `out` to the parts of [begin, end) that are within `startup_ms` after a start of the task, ascending and
// disjoint. Each sample of kind start_time contains one start, so a task that starts again in the window has two
// such samples. A start more than a minute after its sample is ignored, because the clocks of the sample and of
// the start differ.
void FindStartSpans(std::span<const FoldSeries> series, int64_t startup_ms, int64_t begin_ms, int64_t end_ms,
                    std::vector<StartSpan>& out);

// Sorts the spans, and joins spans with a gap of less than `least_ms` between them. A span that is less than
// `least_ms` from a bound of [begin, end) is extended to this bound.
void CloseGaps(int64_t begin_ms, int64_t end_ms, int64_t least_ms, std::vector<StartSpan>& spans);

}  // namespace taut::server
