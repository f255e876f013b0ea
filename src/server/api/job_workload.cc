#include "server/api/job_workload.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/strings.h"

namespace taut::server {

std::optional<JobWorkload> WorkloadOf(const JobRecord& job) {
  const auto label = std::ranges::find(job.labels, "namespace", &std::pair<std::string, std::string>::first);
  if (label == job.labels.end()) return std::nullopt;
  const std::vector<std::string_view> parts = Split(job.name, '/');
  if (std::ranges::any_of(parts, &std::string_view::empty)) return std::nullopt;
  for (size_t at = 0; at < 2; ++at) {
    const size_t rest = parts.size() - std::min(parts.size(), at);
    if ((rest != 3 && rest != 4) || parts[at] != label->second) continue;
    return JobWorkload{.cluster = at == 0 ? "" : parts[0],
                       .namespace_name = parts[at],
                       .kind = parts[at + 1],
                       .name = parts[at + 2],
                       .container = rest == 4 ? parts[at + 3] : ""};
  }
  return std::nullopt;
}

void PutWorkload(const JobRecord& job, JsonWriter& json) {
  const std::optional<JobWorkload> workload = WorkloadOf(job);
  json.Key("workload");
  if (!workload.has_value()) return json.Null();
  const auto put = [&](std::string_view key, std::string_view part) {
    json.Key(key);
    if (part.empty()) {
      json.Null();
    } else {
      json.String(part);
    }
  };
  json.BeginObject();
  put("cluster", workload->cluster);
  put("namespace", workload->namespace_name);
  put("kind", workload->kind);
  put("name", workload->name);
  put("container", workload->container);
  json.EndObject();
}

}  // namespace taut::server
