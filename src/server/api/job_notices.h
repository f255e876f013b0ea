// The sentences of GET /api/v1/jobs/JOB about what is unusual or wrong with a job.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/control/control_plane.h"

namespace taut::server {

// Facts about a job from outside the fleet.
struct JobFacts {
  std::optional<OomSource> oom_source = {};
  std::optional<bool> knows_starts = {};  // a series says when its tasks start
  std::string collision = {};             // sources whose series have this job's name; "": one
  std::string cluster = {},
              without_cluster = {};  // its own, and a known job of the same workload without one; "": none
  std::string of_pods = {};          // a notice of the cluster; "": none
  bool has_external = false;         // an external recommender is configured
};

// `shown` is of `job`; `window`: the last that has closed.
std::vector<std::string> JobNotices(const brain::LiveJob& job, const JobView& shown, const JobFacts& facts,
                                    std::optional<WindowId> window);

// Also of an explanation: cpu.startup_window is set, and does nothing.
inline constexpr std::string_view kNoStartsNotice =
    "No series says when its tasks start, so that cpu.startup_window does nothing: kubernetes, "
    "kube-state-metrics "
    "(kube_pod_container_state_started) or cAdvisor (container_start_time_seconds) say it.";

}  // namespace taut::server
