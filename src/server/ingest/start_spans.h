// When the tasks of a window were in their start-up window, by the series that say when they started.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "server/ingest/remote_write.h"
#include "server/ingest/series_mapper.h"

namespace taut::server {

// A series as the fold of a window sees it.
struct FoldSeries {
  const SeriesBinding* binding = nullptr;
  std::span<const RemoteSample>
      samples;  // times strictly ascending; may begin before and end after the window
};

struct StartSpan {
  int64_t begin_ms = 0, end_ms = 0;
  bool operator==(const StartSpan&) const = default;
};

// The parts of [begin, end) within `startup_ms` after a start of the task, ascending and apart from each other.
// Each sample of a series of kind start_time says a start: a task that starts again in the window has two. A
// start that lies more than a minute after the sample that says so is none: the two clocks cannot be compared.
void FindStartSpans(std::span<const FoldSeries> series, int64_t startup_ms, int64_t begin_ms, int64_t end_ms,
                    std::vector<StartSpan>& out);

// Sorts the spans and joins those that are less than `least_ms` apart; one that is as near to an end of
// [begin, end) reaches to it.
void CloseGaps(int64_t begin_ms, int64_t end_ms, int64_t least_ms, std::vector<StartSpan>& spans);

}  // namespace taut::server
