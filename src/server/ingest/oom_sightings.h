// OOM kills of live series: each once, however many series show it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/time.h"
#include "common/model/usage.h"
#include "server/ingest/oom_watch.h"
#include "server/ingest/remote_write.h"
#include "server/ingest/series_mapper.h"

namespace taut::server {

// A job's OOM kills, to be acted on at once.
struct OomSighting {
  JobId job;
  uint32_t task = 0;
  Timestamp time;               // of the kill where its source dates it, else of the sample that showed it
  uint64_t kills = 1;           // since the sample before; at most kMostKillsAtOnce
  std::optional<double> limit;  // in force then, bytes, if the source reports it
  Timestamp since = time;       // no kill was earlier
  bool is_first = false;        // as OomWatch::Kill
  std::optional<Timestamp> shown = {};  // the same
};

// Not thread-safe. About 40 bytes a kill since the last Take, and 60 a part that was killed lately.
class OomSightings {
 public:
  // The next sample of a series of kind kOomTotal, whose earlier samples, ascending, are `before`.
  void See(uint32_t slot, std::span<const RemoteSample> before, const RemoteSample& sample);
  // An OOM kill that was seen as such.
  void Add(uint32_t slot, Timestamp time, uint64_t kills, std::optional<double> limit);
  // One that series of a container have shown.
  void Add(const OomWatch::Kill& kill);
  // The OOM kills seen since the last call, in the order they arrived. The same kill reported by two series
  // of one part (two Prometheus replicas) comes once, and so does one passed to Add twice.
  std::vector<OomSighting> Take(const SeriesMapper& mapper);
  // Forgets what these slots hold, and the kills of before `open_from_ms`, which no series can repeat.
  void Drop(std::span<const uint32_t> slots, int64_t open_from_ms);

 private:
  static constexpr int64_t kSameOomMs = 120'000;  // two replicas scrape the same kill within this time
  struct RawOom {
    uint32_t slot = 0;
    int64_t time_ms = 0;
    uint64_t kills = 0;
    std::optional<double> limit;
    int64_t since_ms = 0;
    bool is_first = false;
    std::optional<int64_t> shown_ms = {};
  };
  struct LastOom {
    uint32_t slot = 0;
    int64_t time_ms = INT64_MIN;
    bool is_dated = false;  // it is the time of the kill, not of the sample that showed it
  };
  // Of a part: what counters and agents told, and what OomWatch found, which gives each kill once.
  struct LastOoms {
    LastOom counted, watched;
    int64_t newest_ms() const { return std::max(counted.time_ms, watched.time_ms); }
  };
  // Whether the kill is the last one that another series of its part told.
  static bool IsRepeat(const RawOom& oom, const LastOom& last, SeriesKind kind);

  std::vector<RawOom> ooms_;
  absl::flat_hash_map<uint64_t, LastOoms> last_oom_;  // by task entry and part
};

}  // namespace taut::server
