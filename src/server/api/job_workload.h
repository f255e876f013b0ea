// The Kubernetes workload that a job is of, by its name and its label `namespace`.
#pragma once

#include <optional>
#include <string_view>

#include "common/base/json_writer.h"
#include "common/model/rollout.h"

namespace taut::server {

// Views of the record's name.
struct JobWorkload {
  std::string_view cluster;  // "": the name does not say
  std::string_view namespace_name, kind, name;
  std::string_view container;  // "": the job is of whole pods
};

// nullopt: the name is not [CLUSTER/]NAMESPACE/KIND/NAME[/CONTAINER], as the built-in mapping rules form it.
std::optional<JobWorkload> WorkloadOf(const JobRecord& job);
// The field "workload".
void PutWorkload(const JobRecord& job, JsonWriter& json);

}  // namespace taut::server
