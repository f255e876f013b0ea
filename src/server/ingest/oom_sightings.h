// Collects the OOM kills in live series. Each kill is reported once, even if several series show it.
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

// OOM kills of one task that the control plane has not acted on yet.
struct OomSighting {
  JobId job;
  uint32_t task = 0;
  Timestamp time;  // time of the kill if the source reports it, else time of the sample that showed the kill
  uint64_t kills = 1;           // number of kills since the previous sample; at most kMostKillsAtOnce
  std::optional<double> limit;  // limit in force at the kill, bytes; absent if the source does not report it
  Timestamp since = time;       // earliest possible time of the kill
  bool is_first = false;        // true if no earlier end of the container was known, as in OomWatch::Kill
  std::optional<Timestamp> shown = {};  // OomWatch::Kill::shown_ms
};

// Not thread-safe. Uses about 40 bytes per kill since the last Take, and 60 bytes per recently killed part.
class OomSightings {
 public:
  // Processes the next sample of a series with kind kOomTotal. `before`: earlier samples of the series,
  // ascending.
  void See(uint32_t slot, std::span<const RemoteSample> before, const RemoteSample& sample);
  // Adds an OOM kill that an agent reported. `limit` in bytes, absent if unknown.
  void Add(uint32_t slot, Timestamp time, uint64_t kills, std::optional<double> limit);
  // Adds an OOM kill that OomWatch found in a container's series.
  void Add(const OomWatch::Kill& kill);
  // Returns the OOM kills since the last call, in order of arrival. A kill is returned once, even if two
  // series of one part (two Prometheus replicas) show it, or two calls of Add report it.
  std::vector<OomSighting> Take(const SeriesMapper& mapper);
  // Forgets these slots, and kills before `open_from_ms`, which no series can report again.
  void Drop(std::span<const uint32_t> slots, int64_t open_from_ms);

 private:
  // maximum time between the scrapes in which two Prometheus replicas see one kill
  static constexpr int64_t kSameOomMs = 120'000;
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
    bool is_dated = false;  // true: time_ms is the time of the kill, not of a sample
  };
  // Last kills of a part. counted: from counters and agents. watched: from OomWatch, which reports each kill once.
  struct LastOoms {
    LastOom counted, watched;
    int64_t newest_ms() const { return std::max(counted.time_ms, watched.time_ms); }
  };
  // Returns true if `oom` is the kill `last`, which the same series or another series of the part has already
  // reported. The other series may be of a second Prometheus replica.
  static bool IsRepeat(const RawOom& oom, const LastOom& last, SeriesKind kind);

  std::vector<RawOom> ooms_;
  absl::flat_hash_map<uint64_t, LastOoms> last_oom_;  // last kills by the hash of task entry and part
};

}  // namespace taut::server
