// OOM kills from what Kubernetes says of a container: how often it was restarted and why it ended last.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/model/oom_counts.h"
#include "server/ingest/mapping_rules.h"
#include "server/ingest/remote_write.h"

namespace taut::server {

// A container that is killed says so in three series, which belong together by their time: the time of its last
// end changes, its restarts go up, and the reason of its last end is OOMKilled. The time of the end is the date of
// the kill. Where no series has it, the sample that shows the restart dates the kill. A container that is not
// restarted (a Job's) says that it has ended for that reason now. The first value of restarts and of reasons does
// not count; the first time of an end counts if it is at most kNewsMs old.
//
// Restarts count starts, and two ends between two scrapes may show one restart: a container that waits for its
// next start has ended once more than it was restarted. Where a fifth series says that it waits, that end counts.
//
// One object, one thread. About 180 bytes a container.
class OomWatch {
 public:
  static constexpr int64_t kNewsMs = 600'000;

  struct Kill {
    uint32_t slot = 0;    // of the series that showed it
    int64_t time_ms = 0;  // of the end, else of the sample that showed it
    uint64_t kills = 1;
    int64_t since_ms = 0;  // no kill was earlier; `time_ms` if that is the time of the end
    // That time by the machine's clock, as the series shows it, which does not change.
    std::optional<int64_t> shown_ms = {};
    // The kill was given with this time before: what gave it did not have its date.
    std::optional<int64_t> instead_of_ms = {};
    uint64_t more = 0;  // kills beside the one that was given
    // No end of the container was known: a daemon that ran earlier may have counted the kill.
    bool is_first = false;
  };
  static bool IsFor(SeriesKind kind) {
    return kind == SeriesKind::kRestartsTotal || kind == SeriesKind::kOomReason ||
           kind == SeriesKind::kOomEnded || kind == SeriesKind::kLastEnded || kind == SeriesKind::kWaiting;
  }

  // Takes in a sample of one of the series of container `key`. A kill is given once, with the later of the
  // two samples that tell it, and once more if its date comes later. REQUIRES: IsFor(kind).
  std::optional<Kill> See(uint64_t key, uint32_t slot, SeriesKind kind, const RemoteSample& sample);

  // Forgets containers without a sample since then.
  void ForgetBefore(int64_t time_ms);
  size_t size() const { return containers_.size(); }

 private:
  struct Container {
    double restarts = -1;
    int64_t restarts_ms = INT64_MIN;  // of the newest sample
    uint32_t slot = 0;
    // A restart of which the reason is not known yet.
    int64_t restarted_ms = INT64_MIN;
    uint64_t restarted = 0;
    int64_t reason_ms = INT64_MIN;  // the newest sample that says OOMKilled
    int64_t ended_ms = INT64_MIN;   // the newest that says so of now
    bool ended = false;
    uint64_t ended_kills = 0;  // given since the last restart
    // The time of the last end, and the sample that showed it first.
    int64_t last_end_ms = INT64_MIN, end_shown_ms = INT64_MIN, end_sample_ms = INT64_MIN;
    int64_t end_as_shown_ms = INT64_MIN;  // by the machine's clock
    uint32_t end_slot = 0;
    bool end_waits = false;  // its reason is not known yet
    bool end_is_first = false;
    // The kill given last for a restart, or for an end without a date.
    int64_t undated_ms = INT64_MIN;
    uint32_t undated_slot = 0;
    bool undated_is_end = false;
    int64_t restart_before_ms = INT64_MIN;  // the sample that showed the restart before the newest
    int64_t waiting_ms = INT64_MIN,
            runs_ms = INT64_MIN;  // the newest samples that say that it waits, and not
    // Of the newest scrape: its first sample, whether restarts were known before it, the kills given by then whose
    // restart was not shown, the restarts that it shows, and the kills given since.
    int64_t scrape_ms = INT64_MIN;
    bool was_known = false;
    uint64_t ended_before = 0, scrape_restarts = 0, scrape_kills = 0;
  };
  static void SeeWaiting(Container& container, const RemoteSample& waiting);
  static void BeginScrape(Container& container, int64_t time_ms);
  // Kills of the newest scrape that only its waiting shows.
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
