#include "tools/trace/pod_events.h"

#include <algorithm>
#include <utility>

namespace taut::tools {

void PodEvents::Add(const brain::CellJob& pod, std::string_view phase, const Times& times, uint64_t line) {
  brain::TraceEvent event{.place = line, .job = static_cast<uint32_t>(pods_.size()), .task = 0};
  event.cpu_cores = static_cast<float>(pod.limit[brain::kCellCpu]) / 1000;
  event.memory_bytes = static_cast<float>(pod.limit[brain::kCellMemory]);
  pods_.emplace_back().name = pod.name;
  pods_.back().tier = pod.tier;
  const brain::TraceEventKind end = phase == "Succeeded" ? brain::TraceEventKind::kFinish
                                    : phase == "Failed"  ? brain::TraceEventKind::kFail
                                                         : brain::TraceEventKind::kKill;
  for (const auto& [time, kind] :
       {std::pair{times.created_s, brain::TraceEventKind::kSubmit},
        std::pair{times.scheduled_s, brain::TraceEventKind::kStart}, std::pair{times.deleted_s, end}}) {
    if (!time.has_value()) continue;
    event.time_us = static_cast<int64_t>(*time * kMicrosPerSecond);
    event.kind = kind;
    events_.push_back(event);
  }
}

brain::EventFigures PodEvents::Fold(const std::string& file, ReadReport& report) {
  // A stable sort keeps a pod's events of the same second in the order created, scheduled, ended.
  std::ranges::stable_sort(events_, {}, &brain::TraceEvent::time_us);
  brain::EventFold fold(pods_, [&](std::string_view cause, const brain::TraceEvent& e) {
    report.Keep(cause, file, e.place, pods_[e.job].name);
  });
  for (const brain::TraceEvent& e : events_) fold.Take(e);
  return fold.Finish();
}

}  // namespace taut::tools
