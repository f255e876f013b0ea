// Where samples, and tasks that agents report, come in: folds them into windows, and closes these by the time
// of the cell. Samples of open windows are in a log until their window is stored.
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

// The state with the parts that work on it, each of one topic, which says what threads may call it.
struct LiveIngest {
  using Options = IngestOptions;
  // As IngestState.
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
