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
  // Greatest number of closed windows that wait for the store; above it, samples are refused.
  int max_waiting_windows = 24;
  // Greatest number of windows that the samples may be ahead of the last tick, with time by samples.
  int max_open_windows = 100;
};

// A write holds the lock for the length of its body; closing windows holds it as well.
struct IngestState {
  // `its_samples`: null if samples of open windows are not kept over a restart. It and `its_board` must
  // outlive this.
  IngestState(const IngestOptions& its_options, MappingRules its_mapping, SampleLog* its_samples,
              const SharedStatus& its_board);

  // All REQUIRE mutex.
  // Returns Unavailable, and counts the refusal, if the ingest accepts nothing at the moment.
  absl::Status CheckRoom();
  // Like CheckRoom, without counting.
  absl::Status RoomNow() const;
  // Notes the newest sample of a request; `kept` is true if any sample in it was accepted.
  void Say(const SaidTime& said, bool kept);
  // Notes the newest sample after a write.
  void NoteNewest();
  // Appends a body to the log if any sample in it was accepted, unless the clock is in doubt. `kept_before`:
  // count of accepted samples before it.
  void LogWrite(std::string_view body, Timestamp now, uint64_t kept_before);
  // Tells the windows about the time without samples before a start, once.
  void EndGap(Timestamp now);
  // Returns the first window that is not stored; a window before all others if none is stored.
  WindowId first_not_stored() const;

  static constexpr size_t kMostSaid = 64;  // SampleIntake::TakeSaid
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
  std::map<std::string, std::vector<Label>> setting_labels;  // by job, since the last tick
  // OOM kills stored before this start: job, second, and limit in bytes (0: none).
  std::set<std::tuple<uint32_t, int64_t, double>> ooms_before;
  StoredKills kills_before;
  std::vector<OomSighting> replayed_ooms;  // found by IngestLog::Replay, to be acted on
  absl::Status sample_log_status;

  // Used by the thread of the passes; the last two are constant after a restore.
  int ticks_since_sync = 0;
  Timestamp growth_looked{INT64_MIN};
  uint64_t replayed_samples = 0;
  std::optional<Timestamp> time_before;
};

}  // namespace taut::server
