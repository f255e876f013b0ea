// Detects OOM kills from a container's series in Kubernetes: its restarts, and the reason and time of its
// last end.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/model/oom_counts.h"
#include "server/ingest/mapping_rules.h"
#include "server/ingest/remote_write.h"

namespace taut::server {

// Three series of a container show a kill at one time. The time of the last end changes, the number of restarts
// rises, and the reason of the last end is OOMKilled. The time of the end is the time of the kill. If this time is
// unknown, the time of the sample that shows the restart is used.
//
// A container that is not restarted (in a Job) shows the reason as its present state instead. The first values of
// restarts and reasons may be old and yield no kill. The first time of an end yields a kill if it is at most
// kNewsMs old.
//
// The number of restarts counts starts, so two ends between two scrapes may show one restart: a container
// that waits has ended once more than it was restarted. If a fifth series shows that the container waits,
// this end is counted.
//
// Not thread-safe. Uses about 180 bytes per container.
class OomWatch {
 public:
  static constexpr int64_t kNewsMs = 600'000;

  struct Kill {
    uint32_t slot = 0;    // series that showed the kill
    int64_t time_ms = 0;  // time of the end, else of the sample that showed the kill
    uint64_t kills = 1;
    int64_t since_ms = 0;  // earliest possible time of the kill; `time_ms` if this is the time of the end
    // Time of the end by the machine's clock, as shown by the series. This time identifies the end, because it
    // does not change between samples.
    std::optional<int64_t> shown_ms = {};
    // Time in the earlier report, which `time_ms` replaces, if the kill was reported before without a date.
    std::optional<int64_t> instead_of_ms = {};
    uint64_t more = 0;  // number of further kills in addition to the kill that was reported
    // True if no earlier end of the container was known: a previous run of the daemon may have counted the
    // kill.
    bool is_first = false;
  };
  // Returns true for the kinds of series that See accepts.
  static bool IsFor(SeriesKind kind) {
    return kind == SeriesKind::kRestartsTotal || kind == SeriesKind::kOomReason ||
           kind == SeriesKind::kOomEnded || kind == SeriesKind::kLastEnded || kind == SeriesKind::kWaiting;
  }

  // Processes a sample of container `key`. Returns a kill once, at the later of the two samples that show it,
  // and a second time if the date of the kill arrives later. REQUIRES: IsFor(kind).
  std::optional<Kill> See(uint64_t key, uint32_t slot, SeriesKind kind, const RemoteSample& sample);

  // Forgets containers without a sample since this time.
  void ForgetBefore(int64_t time_ms);
  size_t size() const { return containers_.size(); }

 private:
  struct Container {
    double restarts = -1;
    int64_t restarts_ms = INT64_MIN;  // time of the newest sample
    uint32_t slot = 0;
    // Last restart whose reason is unknown: time, and number of restarts.
    int64_t restarted_ms = INT64_MIN;
    uint64_t restarted = 0;
    int64_t reason_ms = INT64_MIN;  // time of the newest sample with reason OOMKilled
    int64_t ended_ms = INT64_MIN;   // time of the newest sample of kOomEnded
    bool ended = false;
    uint64_t ended_kills = 0;  // kills reported since the last restart
    // Time of the last end; time of the sample that first showed this end; time of the newest sample of this
    // series.
    int64_t last_end_ms = INT64_MIN, end_shown_ms = INT64_MIN, end_sample_ms = INT64_MIN;
    int64_t end_as_shown_ms = INT64_MIN;  // time of the last end by the machine's clock
    uint32_t end_slot = 0;
    bool end_waits = false;  // true if the reason of the last end is unknown
    bool end_is_first = false;
    // The kill reported last without a date: for a restart, or for an end.
    int64_t undated_ms = INT64_MIN;
    uint32_t undated_slot = 0;
    bool undated_is_end = false;
    int64_t restart_before_ms = INT64_MIN;  // time of the sample that showed the previous restart
    int64_t waiting_ms = INT64_MIN,         // time of the newest sample with a waiting container
        runs_ms = INT64_MIN;                // time of the newest sample with a container that does not wait
    // State of the newest scrape. scrape_ms: time of its first sample. was_known: restarts were known before the
    // scrape. ended_before: kills reported before the scrape whose restart was not shown. scrape_restarts:
    // restarts in the scrape. scrape_kills: kills reported since the start of the scrape.
    int64_t scrape_ms = INT64_MIN;
    bool was_known = false;
    uint64_t ended_before = 0, scrape_restarts = 0, scrape_kills = 0;
  };
  static void SeeWaiting(Container& container, const RemoteSample& waiting);
  static void BeginScrape(Container& container, int64_t time_ms);
  // Returns the number of kills in the newest scrape that only the waiting state of the container shows.
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
