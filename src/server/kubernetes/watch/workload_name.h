// The workload of a cluster in the terms of the API server, and its conversion to and from the Workload of a
// job.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/model/workload.h"
#include "server/ingest/mapping_rules.h"

namespace taut::server {

struct WorkloadName {
  std::string namespace_name, kind, name;  // the kind is in lower case
  std::string container;                   // "" stands for all containers of the workload's pods
  std::string group = {};  // group of the workload's pods (workload_split.h); "": pods without a group
  bool operator==(const WorkloadName&) const = default;
};

// Returns the key of a workload, without the container, such as "shop/deployment/web" or
// "logging/daemonset/fluentd@large".
std::string WorkloadKey(const WorkloadName& workload);
std::string WorkloadKey(std::string_view namespace_name, std::string_view kind, std::string_view name);

// Decides which pods or containers of a cluster form one job, and makes the job's name.
struct ClusterNaming {
  std::string cluster;  // the first part of every name; "": names have no such part
  KubernetesJobs jobs = KubernetesJobs::kPods;

  // Returns the identity of the job that a container of these pods belongs to.
  Workload IdentityOf(const WorkloadName& pods, std::string_view container) const;
  std::string JobOf(const WorkloadName& pods, std::string_view container) const {
    return IdentityOf(pods, container).JobName();
  }
  // Returns the workload of a job; nullopt if the job does not belong to this cluster. The workload need not
  // exist.
  std::optional<WorkloadName> Of(const Workload& job) const;
  // Returns the workload of a job for which an older version stored only the name. nullopt as for Of.
  std::optional<WorkloadName> OfStoredName(std::string_view job) const;
};

}  // namespace taut::server
