// What the parts of the ingest of ingest share.
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
  // Closed windows that wait for the store; above this number samples are refused until it accepts them.
  int max_waiting_windows = 24;
  // The same for windows that no tick has closed yet, where time is the samples' and may run ahead.
  int max_open_windows = 100;
};

// The lock is held by a write for its body, and while windows close.
struct IngestState {
  // `its_samples`: null if samples of open windows need not outlive the daemon. Both must outlive it.
  IngestState(const IngestOptions& its_options, MappingRules its_mapping, SampleLog* its_samples,
              const SharedStatus& its_board);

  // All REQUIRE mutex.
  // Not OK: nothing is taken in just now.
  absl::Status CheckRoom();
  absl::Status RoomNow() const;
  // A request says that it is a time; `kept`: something of it was taken in.
  void Say(const SaidTime& said, bool kept);
  // Samples may have come.
  void NoteNewest();
  // Puts a body into the log, if windows wait for something in it: `kept_before` were kept before it.
  void LogWrite(std::string_view body, Timestamp now, uint64_t kept_before);
  void EndGap(Timestamp now);
  // The first window that is not stored; before all windows if none is.
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
  // OOM kills that were stored before this life: job, second, and limit in bytes (0: none).
  std::set<std::tuple<uint32_t, int64_t, double>> ooms_before;
  StoredKills kills_before;
  std::vector<OomSighting> replayed_ooms;  // found by IngestLog::Replay, to be acted on
  absl::Status sample_log_status;

  // Of the thread of the passes, and constant after a restore.
  int ticks_since_sync = 0;
  Timestamp growth_looked{INT64_MIN};
  uint64_t replayed_samples = 0;
  std::optional<Timestamp> time_before;
};

}  // namespace taut::server
