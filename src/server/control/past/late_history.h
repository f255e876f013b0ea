// Reads history from the Prometheus of backfill.prometheus: of jobs that appeared after the cell's start, and of
// gaps during which no samples arrived. Reads in its own thread; no other thread waits for this thread.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/time.h"
#include "server/control/component.h"
#include "server/control/kept_state.h"
#include "server/control/past/backfill_component.h"
#include "server/control/past/backfill_source.h"
#include "server/ingest/series_selection.h"

namespace taut::server {

// Number of known jobs by the state of the request for their history.
struct LateProgress {
  uint64_t waiting = 0, read = 0, nothing = 0, failed = 0;
  std::string error;  // error of the last pass; "" if none
};

class LateHistory final : public Component {
 public:
  struct Options {
    BackfillConfig config;
    std::vector<MappingRule> rules;
    Ingest::Options ingest;
    // Time that a job must be known before its history is requested; also the delay after the start.
    std::chrono::seconds settle{300};
  };
  // Starts to read once `backfill` has ended, and reads the gaps of `backfill`. `backfill` and `context` must
  // outlive this object.
  LateHistory(Options options, BackfillComponent& backfill, const DaemonContext& context);
  // Returns the options of a configuration; nullopt if the configuration does not enable this component.
  static std::optional<Options> OptionsOf(const DaemonConfig& config);
  ~LateHistory() override { LateHistory::Stop(); }

  std::string_view name() const override { return "late_history"; }
  std::span<const std::string_view> after() const override;
  absl::Status Start() override;
  // Waits until the thread ends. REQUIRES that the daemon is stopping.
  void Stop() override;
  void Collect(MetricsText& out) const override;
  // Returns the progress. Thread-safe. O(jobs).
  LateProgress progress() const;
  // Adds a gap to read. Returns OK if the gap is stored, or if the daemon stores no states. Returns Unavailable if
  // the gap is only in memory. REQUIRES that the backfill has not ended.
  absl::Status AddGap(SilentSpan gap);

 private:
  struct Found {
    LateJob job;
    SeriesSelection series;
  };
  void Loop();
  void Pass();
  // Reads the history of `jobs` from before each job appeared. Returns Cancelled if the daemon stops, else the
  // errors of the server. An error does not remove results that are already stored.
  absl::Status ReadPast(const std::vector<LateJob>& jobs, Timestamp now);
  // Stores new gaps. Returns true if the first gap can be read now.
  bool NoteGaps();
  void ReadGaps();
  // Reads the gap in parts of two hours, so that stored parts survive an error.
  absl::Status ReadGap(SilentSpan& gap);
  absl::Status ReadPartOfGap(const SilentSpan& part, const PastFacts& facts);
  void CaughtUp() const;
  void LoadGaps();
  absl::Status SaveGaps();
  void SaveGapsOrWarn();
  // Connects to the server for one pass or gap.
  absl::Status Begin();
  absl::Status ReadFacts(Timestamp from, Timestamp to, PastFacts& facts);
  // Reads the history of jobs that appeared at about the same time; `jobs` are sorted by name.
  absl::Status ReadGroup(std::vector<LateJob> jobs, const PastFacts& facts, Timestamp from);
  absl::Status ReadFound(std::span<const Found> found, const PastFacts& facts, Timestamp from);
  // Finds the jobs that have series before `to`. Settles the other jobs as jobs without history. If `found` is
  // full, settles only the jobs that precede the last found job.
  absl::Status FindJobs(const std::vector<LateJob>& jobs, const PastFacts& facts, Timestamp from,
                        Timestamp to, std::vector<Found>& found);
  absl::Status ReadBatch(std::span<const Found> batch, const PastFacts& facts, Timestamp from);
  // Reads one day if the server's index has series of this day.
  absl::Status ReadDay(Timestamp from, Timestamp to, PastFold& fold);
  absl::Status ReadSpan(Timestamp from, Timestamp to, PastFold& fold);
  absl::Status Settle(std::vector<JobPast> pasts);
  Timestamp Earliest(Timestamp now) const;

  const Options options_;
  BackfillComponent& backfill_;
  const DaemonContext& context_;
  KeptState kept_gaps_;  // unread gaps
  const MappingRules mapping_;
  AddedLabels added_;
  std::unique_ptr<PrometheusHistory> history_;  // reader of the server; null between passes
  std::vector<HistorySelector> facts_, usage_;  // selectors of the mapping rules
  std::vector<SilentSpan> gaps_;  // unread gaps; used only by the thread that runs after the backfill
  Timestamp gap_retry_{0};        // time before which no gap is read again
  std::thread thread_;
  mutable std::mutex mutex_;
  std::set<JobId> failed_;  // jobs whose history the last pass failed to read
  std::string error_;
};

}  // namespace taut::server
