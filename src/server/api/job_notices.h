// Sentences in GET /api/v1/jobs/JOB about unusual conditions and faults of a job.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/control/control_plane.h"

namespace taut::server {

// Facts about a job that the fleet's state lacks.
struct JobFacts {
  std::optional<OomSource> oom_source = {};
  std::optional<bool> knows_starts = {};  // true if a series contains the start times of the job's tasks
  std::string collision = {};  // sources whose series have this job's name; "" if there is only one
  // Cluster in the job's name, and the known job of the same workload without a cluster in its name; both "" if
  // there is no such job.
  std::string cluster = {}, without_cluster = {};
  std::string of_pods = {};   // notice about the job's pods; "": none
  bool has_external = false;  // true if an external recommender is configured
};

// Returns the sentences about the job. `shown` is the view of `job`. `window` is the last closed window; nullopt
// if there is none.
std::vector<std::string> JobNotices(const brain::LiveJob& job, const JobView& shown, const JobFacts& facts,
                                    std::optional<WindowId> window);

// Notice that cpu.startup_window is set but has no effect. Also part of explanations.
inline constexpr std::string_view kNoStartsNotice =
    "No series says when its tasks start, so that cpu.startup_window does nothing: kubernetes, "
    "kube-state-metrics "
    "(kube_pod_container_state_started) or cAdvisor (container_start_time_seconds) say it.";

}  // namespace taut::server
