// A workload in terms of the API server, with conversions to and from the Workload of a job.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/model/workload.h"
#include "server/ingest/mapping_rules.h"

namespace taut::server {

struct WorkloadName {
  std::string namespace_name, kind, name;  // kind in lower case
  std::string container;                   // name of the container; "": all containers of the pods
  std::string group = {};                  // group of the pods (workload_split.h); "": pods without a group
  bool operator==(const WorkloadName&) const = default;
};

// Returns the key of a workload, which excludes the container, such as "shop/deployment/web" or
// "logging/daemonset/fluentd@large".
std::string WorkloadKey(const WorkloadName& workload);
std::string WorkloadKey(std::string_view namespace_name, std::string_view kind, std::string_view name);
// Returns the key of a group of a workload. `whole` is the workload's key without a group, which is also the
// result for the group "".
std::string KeyOfGroup(std::string_view whole, std::string_view group);

// Determines which pods or containers of a cluster form one job, and the job's name.
struct ClusterNaming {
  std::string cluster;  // first part of every name; "": none
  KubernetesJobs jobs = KubernetesJobs::kPods;

  // Returns the identity of the job of a container in these pods.
  Workload IdentityOf(const WorkloadName& pods, std::string_view container) const;
  std::string JobOf(const WorkloadName& pods, std::string_view container) const {
    return IdentityOf(pods, container).JobName();
  }
  // Returns the workload of a job, which need not exist; nullopt if the job is not in this cluster.
  std::optional<WorkloadName> Of(const Workload& job) const;
  // Returns the workload of a job for which an older version stored only the name; nullopt as in Of().
  std::optional<WorkloadName> OfStoredName(std::string_view job) const;
};

}  // namespace taut::server
