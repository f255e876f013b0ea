#include "tools/trace/pod_events.h"

#include <algorithm>
#include <utility>

namespace taut {

void PodEvents::Add(const CellJob& pod, std::string_view phase, const Times& times, uint64_t line) {
  TraceEvent event{.place = line, .job = static_cast<uint32_t>(pods_.size()), .task = 0};
  event.cpu_cores = static_cast<float>(pod.limit[kCellCpu]) / 1000;
  event.memory_bytes = static_cast<float>(pod.limit[kCellMemory]);
  pods_.emplace_back().name = pod.name;
  pods_.back().tier = pod.tier;
  const TraceEventKind end = phase == "Succeeded" ? TraceEventKind::kFinish
                             : phase == "Failed"  ? TraceEventKind::kFail
                                                  : TraceEventKind::kKill;
  for (const auto& [time, kind] :
       {std::pair{times.created_s, TraceEventKind::kSubmit},
        std::pair{times.scheduled_s, TraceEventKind::kStart}, std::pair{times.deleted_s, end}}) {
    if (!time.has_value()) continue;
    event.time_us = static_cast<int64_t>(*time * kMicrosPerSecond);
    event.kind = kind;
    events_.push_back(event);
  }
}

EventFigures PodEvents::Fold(const std::string& file, ReadReport& report) {
  // A pod's events of one second stay in their order.
  std::ranges::stable_sort(events_, {}, &TraceEvent::time_us);
  EventFold fold(pods_, [&](std::string_view cause, const TraceEvent& e) {
    report.Keep(cause, file, e.place, pods_[e.job].name);
  });
  for (const TraceEvent& e : events_) fold.Take(e);
  return fold.Finish();
}

}  // namespace taut
