// What tasks need of memory as agents have probed it: in the answers about a job, and as metrics.
#include "server/api/api.h"

namespace taut::server {

void Api::PutMemoryNeeded(JobId id, JsonWriter& json) const {
  json.Key("memory_needed");
  const std::optional<NeededMemory> needed =
      options_.agents != nullptr ? options_.agents->hub()->MemoryNeededBy(NameOf(id)) : std::nullopt;
  if (!needed.has_value()) return json.Null();
  json.BeginObject();
  PutAmount("bytes", needed->bytes, json);
  json.Field("tasks", int64_t{needed->tasks});
  PutTime("time", needed->window_end_s, json);
  json.EndObject();
}

}  // namespace taut::server
