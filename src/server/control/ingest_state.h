// State that the parts of the ingest share.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "common/base/clock_source.h"
#include "server/control/cell_clock.h"
#include "server/control/clock_view.h"
#include "server/control/shared_status.h"
#include "server/control/stored_kills.h"
#include "server/ingest/ingest.h"
#include "server/store/sample_log.h"

namespace taut::server {

struct IngestOptions {
  Ingest::Options ingest;
  ClockSource clock = ClockSource::kWall;
  // Greatest number of closed windows that wait for the store. Above this number, samples are refused.
  int max_waiting_windows = 24;
  // With `clock: samples`: greatest number of windows between the last tick and the samples.
  int max_open_windows = 100;
};

// State of the ingest, with its mutex. A write holds the mutex while its body is processed. The closing of windows
// also holds the mutex.
struct IngestState {
  // `its_samples`: null if samples of open windows are lost when the daemon stops. `its_samples` and
  // `its_board` must outlive this object.
  IngestState(const IngestOptions& its_options, MappingRules its_mapping, SampleLog* its_samples,
              const SharedStatus& its_board);

  // All functions REQUIRE mutex.
  // Returns OK if the ingest accepts samples now; else Unavailable, and counts the refusal.
  absl::Status CheckRoom();
  // Returns the status of CheckRoom, without counting refusals.
  absl::Status RoomNow() const;
  // Handles the time of the newest sample of a request; `kept` is true if any sample of the request was
  // accepted.
  void Say(const SaidTime& said, bool kept);
  // Passes the time of the newest accepted sample to the clock. Called after a write.
  void NoteNewest();
  // Appends a body to the log if any of its samples was accepted, unless the clock is in doubt.
  // `kept_before`: number of accepted samples before the body.
  void LogWrite(std::string_view body, Timestamp now, uint64_t kept_before);
  // Marks the time without samples before `now` as not heard (LiveWindows::NotHeard). Only the first call after a
  // start has an effect.
  void EndGap(Timestamp now);

  static constexpr size_t kMostSaid = 64;  // limit for SampleIntake::TakeSaid
  const IngestOptions options;
  const MappingRules mapping;
  SampleLog* const samples;
  const SharedStatus& status;

  mutable std::mutex mutex;
  std::unique_ptr<Ingest> ingest;
  CellClock clock;
  int waiting_windows = 0;
  std::atomic<bool> asks_for_starts = false;
  bool hold_windows = false, in_doubt = false;
  uint64_t deferred_writes = 0;
  std::vector<SaidTime> said;
  std::optional<Timestamp> first_heard;
  std::map<std::string, std::vector<Label>> setting_labels;  // labels received since the last tick, by job
  // OOM kills stored by earlier runs of tautd: job, second, and limit in bytes (0: none).
  std::set<std::tuple<uint32_t, int64_t, double>> ooms_before;
  StoredKills kills_before;
  // OOM kills that IngestLog::Replay found and that no tick has acted on.
  std::vector<OomSighting> replayed_ooms;
  absl::Status sample_log_status;
  // The window after the last window that WindowCloser has closed or that an earlier run of tautd has stored.
  // Earlier windows are closed permanently, also while they wait for the store.
  WindowId first_not_closed{INT32_MIN / 2};

  // Used by the thread of the passes. The last two members are constant after a restore.
  int ticks_since_sync = 0;
  Timestamp growth_looked{INT64_MIN};
  uint64_t replayed_samples = 0;
  std::optional<Timestamp> time_before;
};

}  // namespace taut::server
