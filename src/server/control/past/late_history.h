// The past of jobs that appear after the cell did (a namespace that is sent weeks later), and what was missed
// while no samples came, from the Prometheus of backfill.prometheus. In a thread of its own: nothing waits
// for it.
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
#include "server/control/past/backfill_component.h"
#include "server/control/past/backfill_source.h"
#include "server/ingest/series_selection.h"

namespace taut::server {

// Known jobs, by the state of the request for their history.
struct LateProgress {
  uint64_t waiting = 0, read = 0, nothing = 0, failed = 0;
  std::string error;  // of the last time; "" for none
};

class LateHistory final : public Component {
 public:
  struct Options {
    BackfillConfig config;
    std::vector<MappingRule> rules;
    Ingest::Options ingest;
    // For how long a job is known before its past is requested; also the wait after the start.
    std::chrono::seconds settle{300};
  };
  // It begins after `backfill`, whose gaps it reads. `backfill` and `context` outlive it.
  LateHistory(Options options, BackfillComponent& backfill, const DaemonContext& context);
  // The options of a configuration; nullopt: it asks for no such history.
  static std::optional<Options> OptionsOf(const DaemonConfig& config);
  ~LateHistory() override { LateHistory::Stop(); }

  std::string_view name() const override { return "late_history"; }
  std::span<const std::string_view> after() const override;
  absl::Status Start() override;
  // Waits for the thread; the daemon is stopping.
  void Stop() override;
  void Collect(MetricsText& out) const override;
  // Thread-safe.
  LateProgress progress() const;
  // Adds a gap that will be read. On disk, if there is a file for it, when this returns OK; Unavailable: only in
  // memory. REQUIRES: the backfill has not ended.
  absl::Status AddGap(SilentSpan gap);

 private:
  struct Found {
    LateJob job;
    SeriesSelection series;
  };
  void Loop();
  void Pass();
  // Cancelled: stopped. Other errors are of the server; what was stored before stays.
  absl::Status ReadPast(const std::vector<LateJob>& jobs, Timestamp now);
  // New gaps are remembered; whether one can be read.
  bool NoteGaps();
  void ReadGaps();
  // Some hours at a time, so that what was stored stays.
  absl::Status ReadGap(SilentSpan& gap);
  absl::Status ReadPartOfGap(const SilentSpan& part, const PastFacts& facts);
  void CaughtUp() const;
  void LoadGaps();
  absl::Status SaveGaps() const;
  void SaveGapsOrWarn() const;
  // Of a pass, or of a gap.
  absl::Status Begin();
  absl::Status ReadFacts(Timestamp from, Timestamp to, PastFacts& facts);
  // Of jobs that appeared at about the same time, by name.
  absl::Status ReadGroup(std::vector<LateJob> jobs, const PastFacts& facts, Timestamp from);
  absl::Status ReadFound(std::span<const Found> found, const PastFacts& facts, Timestamp from);
  // Those that the server knows from before `to`; the others are settled, unless `found` is full.
  absl::Status FindJobs(const std::vector<LateJob>& jobs, const PastFacts& facts, Timestamp from,
                        Timestamp to, std::vector<Found>& found);
  absl::Status ReadBatch(std::span<const Found> batch, const PastFacts& facts, Timestamp from);
  // If the index has series of then.
  absl::Status ReadDay(Timestamp from, Timestamp to, PastFold& fold);
  absl::Status ReadSpan(Timestamp from, Timestamp to, PastFold& fold);
  absl::Status Settle(std::vector<JobPast> pasts);
  Timestamp Earliest(Timestamp now) const;

  const Options options_;
  BackfillComponent& backfill_;
  const DaemonContext& context_;
  const std::string gaps_file_;  // gaps that are not read yet; "": none
  const MappingRules mapping_;
  AddedLabels added_;
  std::unique_ptr<PrometheusHistory> history_;  // of a pass
  std::vector<HistorySelector> facts_, usage_;  // what the rules want of it
  std::vector<SilentSpan> gaps_;                // of the thread, once may_begin
  Timestamp gap_retry_{0};                      // not before
  std::thread thread_;
  mutable std::mutex mutex_;
  std::set<JobId> failed_;  // waiting since the last pass failed
  std::string error_;
};

}  // namespace taut::server
