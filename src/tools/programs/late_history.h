// The past of jobs that appear after the cell did (a namespace that is sent weeks later), and what was missed
// while no samples came, from the Prometheus of backfill.prometheus. In a thread of its own: nothing waits
// for it.
#pragma once

#include <chrono>
#include <functional>
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
#include "server/api/api.h"
#include "server/config/daemon_config.h"
#include "server/control/control_plane.h"
#include "server/ingest/series_selection.h"
#include "tools/programs/backfill_source.h"

namespace taut::tools {

class LateHistory {
 public:
  struct Options {
    server::BackfillConfig config;
    std::vector<server::MappingRule> rules;
    server::Ingest::Options ingest;
    // For how long a job is known before its past is requested; also the wait after the start.
    std::chrono::seconds settle{300};
    // Gaps that are not read yet; "": a stop forgets everything anyway.
    std::string gaps_file;
    std::function<Timestamp()> now;
    std::function<bool()> should_stop;
    std::function<void(std::chrono::milliseconds)> wait;  // may end early when should_stop
    // Whether the history at the start is complete, or has failed.
    std::function<bool()> may_begin;
    // No gap is left to read, and no past of a job failed; called after each time that something was read.
    std::function<void()> on_caught_up;
  };
  // `control` must outlive it.
  LateHistory(server::ControlPlane& control, Options options);
  ~LateHistory() { Stop(); }

  // A gap that will be read. On disk, if there is a gaps_file, when this returns OK; Unavailable: only in
  // memory. REQUIRES: may_begin is still false.
  absl::Status AddGap(server::SilentSpan gap);
  void Start();
  // Waits for the thread: should_stop has to say so before.
  void Stop();
  server::LateProgress progress() const;

 private:
  struct Found {
    server::LateJob job;
    server::SeriesSelection series;
  };
  void Loop();
  void Pass();
  // Cancelled: stopped. Other errors are of the server; what was stored before stays.
  absl::Status ReadPast(const std::vector<server::LateJob>& jobs, Timestamp now);
  // New gaps are remembered; whether one can be read.
  bool NoteGaps();
  void ReadGaps();
  // Some hours at a time, so that what was stored stays.
  absl::Status ReadGap(server::SilentSpan& gap);
  absl::Status ReadPartOfGap(const server::SilentSpan& part, const server::PastFacts& facts);
  void CaughtUp() const;
  void LoadGaps();
  absl::Status SaveGaps() const;
  void SaveGapsOrWarn() const;
  // Of a pass, or of a gap.
  absl::Status Begin();
  absl::Status ReadFacts(Timestamp from, Timestamp to, server::PastFacts& facts);
  // Of jobs that appeared at about the same time, by name.
  absl::Status ReadGroup(std::vector<server::LateJob> jobs, const server::PastFacts& facts, Timestamp from);
  absl::Status ReadFound(std::span<const Found> found, const server::PastFacts& facts, Timestamp from);
  // Those that the server knows from before `to`; the others are settled, unless `found` is full.
  absl::Status FindJobs(const std::vector<server::LateJob>& jobs, const server::PastFacts& facts,
                        Timestamp from, Timestamp to, std::vector<Found>& found);
  absl::Status ReadBatch(std::span<const Found> batch, const server::PastFacts& facts, Timestamp from);
  // If the index has series of then.
  absl::Status ReadDay(Timestamp from, Timestamp to, server::PastFold& fold);
  absl::Status ReadSpan(Timestamp from, Timestamp to, server::PastFold& fold);
  absl::Status Settle(std::vector<server::JobPast> pasts);
  Timestamp Earliest(Timestamp now) const;

  server::ControlPlane& control_;
  const Options options_;
  const server::MappingRules mapping_;
  AddedLabels added_;
  std::unique_ptr<server::PrometheusHistory> history_;  // of a pass
  std::vector<server::HistorySelector> facts_, usage_;  // what the rules want of it
  std::vector<server::SilentSpan> gaps_;                // of the thread, once may_begin
  Timestamp gap_retry_{0};                              // not before
  std::thread thread_;
  mutable std::mutex mutex_;
  std::set<JobId> failed_;  // waiting since the last pass failed
  std::string error_;
};

}  // namespace taut::tools
