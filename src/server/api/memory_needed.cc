// What tasks need of memory as agents have probed it: in the answers about a job, and as metrics.
#include "server/api/api.h"

namespace taut::server {

void Api::PutMemoryNeeded(JobId id, JsonWriter& json) const {
  json.Key("memory_needed");
  const std::optional<NeededMemory> needed =
      options_.memory_needed_by ? options_.memory_needed_by(NameOf(id)) : std::nullopt;
  if (!needed.has_value()) return json.Null();
  json.BeginObject();
  PutAmount("bytes", needed->bytes, json);
  json.Field("tasks", int64_t{needed->tasks});
  PutTime("time", needed->window_end_s, json);
  json.EndObject();
}

void Api::PutNeededMetrics(MetricsText& out) const {
  if (!options_.memory_needed) return;
  constexpr size_t kMost = 2000;
  size_t count = 0;
  for (const auto& [job, needed] : options_.memory_needed()) {
    if (++count > kMost) return;
    out.Gauge(
        "tautd_job_memory_needed_bytes",
        "Memory that the job's task with the largest need needs, as agents probed it; of 2,000 jobs at most.",
        needed.bytes, {{"job", job}});
  }
}

}  // namespace taut::server
