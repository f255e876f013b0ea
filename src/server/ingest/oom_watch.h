// Detects OOM kills from Kubernetes' series of a container: its restarts, and the reason and time of its last
// end.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/model/oom_counts.h"
#include "server/ingest/mapping_rules.h"
#include "server/ingest/remote_write.h"

namespace taut::server {

// Three series show the kill of a container at the same time. The time of its last end changes, its restarts
// rise, and the reason of its last end is OOMKilled. The time of the end dates the kill. Without it, the
// sample that shows the restart does.
//
// A container that is not restarted (in a Job) shows the reason as its present state instead. The first
// values of restarts and reasons do not count. The first time of an end counts if it is at most kNewsMs old.
//
// Restarts count starts, so two ends between two scrapes may show one restart: a waiting container has ended
// once more than it was restarted. If a fifth series shows that it waits, that end counts.
//
// Not thread-safe. About 180 bytes a container.
class OomWatch {
 public:
  static constexpr int64_t kNewsMs = 600'000;

  struct Kill {
    uint32_t slot = 0;    // series that showed the kill
    int64_t time_ms = 0;  // time of the end, else of the sample that showed it
    uint64_t kills = 1;
    int64_t since_ms = 0;  // earliest possible time; equals `time_ms` if that is the time of the end
    // The end's time by the machine's clock, as the series shows it; it does not change between samples.
    std::optional<int64_t> shown_ms = {};
    // Set if the kill was reported before, undated, with this time; `time_ms` replaces it.
    std::optional<int64_t> instead_of_ms = {};
    uint64_t more = 0;  // further kills beside the one reported before
    // No earlier end of the container was known: a previous run of the daemon may have counted the kill.
    bool is_first = false;
  };
  // Returns true for the kinds of series that See accepts.
  static bool IsFor(SeriesKind kind) {
    return kind == SeriesKind::kRestartsTotal || kind == SeriesKind::kOomReason ||
           kind == SeriesKind::kOomEnded || kind == SeriesKind::kLastEnded || kind == SeriesKind::kWaiting;
  }

  // Processes a sample of container `key`. Returns a kill once, at the later of the two samples that show it,
  // and once more if its date arrives later. REQUIRES: IsFor(kind).
  std::optional<Kill> See(uint64_t key, uint32_t slot, SeriesKind kind, const RemoteSample& sample);

  // Forgets containers without a sample since this time.
  void ForgetBefore(int64_t time_ms);
  size_t size() const { return containers_.size(); }

 private:
  struct Container {
    double restarts = -1;
    int64_t restarts_ms = INT64_MIN;  // newest sample
    uint32_t slot = 0;
    // A restart with an unknown reason: time and count.
    int64_t restarted_ms = INT64_MIN;
    uint64_t restarted = 0;
    int64_t reason_ms = INT64_MIN;  // newest sample with reason OOMKilled
    int64_t ended_ms = INT64_MIN;   // newest sample of kOomEnded
    bool ended = false;
    uint64_t ended_kills = 0;  // kills reported since the last restart
    // Time of the last end, the sample that first showed it, and its newest sample.
    int64_t last_end_ms = INT64_MIN, end_shown_ms = INT64_MIN, end_sample_ms = INT64_MIN;
    int64_t end_as_shown_ms = INT64_MIN;  // by the machine's clock
    uint32_t end_slot = 0;
    bool end_waits = false;  // its reason is unknown yet
    bool end_is_first = false;
    // The kill reported last for a restart, or for an end without a date.
    int64_t undated_ms = INT64_MIN;
    uint32_t undated_slot = 0;
    bool undated_is_end = false;
    int64_t restart_before_ms = INT64_MIN;  // sample that showed the restart before the newest
    int64_t waiting_ms = INT64_MIN,         // newest samples that show it waiting, and not waiting
        runs_ms = INT64_MIN;                // the newest samples that say that it waits, and not
    // The newest scrape: its first sample, and whether restarts were known before it. Then: kills reported
    // before it whose restart was not shown, restarts that it shows, and kills reported since.
    int64_t scrape_ms = INT64_MIN;
    bool was_known = false;
    uint64_t ended_before = 0, scrape_restarts = 0, scrape_kills = 0;
  };
  static void SeeWaiting(Container& container, const RemoteSample& waiting);
  static void BeginScrape(Container& container, int64_t time_ms);
  // Returns the number of kills in the newest scrape that only the waiting state shows.
  static uint64_t Missed(Container& container);
  static std::optional<Kill> Take(Container& container, uint32_t slot, SeriesKind kind,
                                  const RemoteSample& sample);

  static std::optional<Kill> See(Container& container, uint32_t slot, const RemoteSample& restarts);
  static std::optional<Kill> SeeEnd(Container& container, uint32_t slot, const RemoteSample& end);
  static std::optional<Kill> SeeEnded(Container& container, uint32_t slot, const RemoteSample& ended);
  static std::optional<Kill> Judge(Container& container);
  static std::optional<Kill> JudgeEnd(Container& container);

  absl::flat_hash_map<uint64_t, Container> containers_;
};

}  // namespace taut::server
