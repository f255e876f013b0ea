// Sentences of GET /api/v1/jobs/JOB about anything unusual or wrong with a job.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/control/control_plane.h"

namespace taut::server {

// Facts about a job from outside the fleet's state.
struct JobFacts {
  std::optional<OomSource> oom_source = {};
  std::optional<bool> knows_starts = {};  // a series has the start times of its tasks
  std::string collision = {};             // sources whose series have this job's name; "": only one
  // The cluster in the job's name, and the known job of the same workload without a cluster in its name. Both
  // are "" if there is no such job.
  std::string cluster = {}, without_cluster = {};
  std::string of_pods = {};   // a notice about its pods; "": none
  bool has_external = false;  // an external recommender is configured
};

// Returns the sentences. `shown` is the view of `job`; `window`: the last closed window.
std::vector<std::string> JobNotices(const brain::LiveJob& job, const JobView& shown, const JobFacts& facts,
                                    std::optional<WindowId> window);

// Notice (also in explanations) that cpu.startup_window is set and has no effect.
inline constexpr std::string_view kNoStartsNotice =
    "No series says when its tasks start, so that cpu.startup_window does nothing: kubernetes, "
    "kube-state-metrics "
    "(kube_pod_container_state_started) or cAdvisor (container_start_time_seconds) say it.";

}  // namespace taut::server
