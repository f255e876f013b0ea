// The past of the mapped series from a Prometheus into an empty store: read in time order, tried again while
// the server is away, and taken up by the next start where a stop interrupted it.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "api/api.h"
#include "config/daemon_config.h"
#include "control/control_plane.h"

namespace taut {

class BackfillRun {
 public:
  struct Options {
    BackfillConfig config;
    std::vector<MappingRule> rules;
    // There while a backfill is not complete; "": a stop forgets everything anyway.
    std::string mark_file;
    std::function<Timestamp()> now;
    std::function<bool()> should_stop;
    std::function<void(std::chrono::seconds)> wait;  // may end early when should_stop
    // A server that is away is asked again after pauses from the first to the longest, for so long without
    // progress.
    std::chrono::seconds first_pause{30}, longest_pause{300}, patience{1800};
  };
  BackfillRun(ControlPlane& control, Options options);

  // OK also if there was nothing to do. Cancelled: stopped before the end. Anything else: what was read
  // stays, the rest of the past will not be read.
  absl::Status Run();
  // nullopt: no backfill was asked for, or it was complete before.
  std::optional<BackfillProgress> progress() const;

 private:
  absl::Status ReadOn(Timestamp now);
  absl::Status Mark();
  void Note(std::string_view error, bool running);

  ControlPlane& control_;
  const Options options_;
  mutable std::mutex mutex_;
  std::optional<BackfillProgress> progress_;
};

}  // namespace taut
