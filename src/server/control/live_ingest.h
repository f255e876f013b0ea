// Receives samples and reports of agents, folds them into windows, and closes the windows by the cell's time.
// A log stores the samples of open windows until each window is stored.
#pragma once

#include <utility>

#include "server/control/agent_windows.h"
#include "server/control/ingest_counters.h"
#include "server/control/ingest_jobs.h"
#include "server/control/ingest_log.h"
#include "server/control/ingest_state.h"
#include "server/control/ingest_time.h"
#include "server/control/sample_intake.h"
#include "server/control/window_closer.h"

namespace taut::server {

// The shared state of the ingest, and one part per topic that uses this state. Each part documents its
// threads.
struct LiveIngest {
  using Options = IngestOptions;
  // Passes the arguments to IngestState.
  LiveIngest(const Options& options, MappingRules mapping, SampleLog* log_of_samples,
             const SharedStatus& status)
      : state(options, std::move(mapping), log_of_samples, status) {}

  IngestState state;
  SampleIntake samples{state};
  AgentWindows agents{state};
  IngestTime time{state};
  IngestCounters counts{state};
  IngestJobs jobs{state};
  WindowCloser windows{state};
  IngestLog log{state};
};

}  // namespace taut::server
