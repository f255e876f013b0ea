// OOM kills from what Kubernetes says of a container: how often it was restarted and why it ended last.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ingest/mapping_rules.h"
#include "ingest/remote_write.h"

namespace taut {

// A container that is killed and restarted says so in two series, which belong together by their time: its
// restarts go up, and the reason of its last end is OOMKilled. One that is not restarted (a Job's) says that
// it has ended for that reason now. The first value of either does not count.
//
// One object, one thread. About 80 bytes a container.
class OomWatch {
 public:
  struct Kill {
    uint32_t slot = 0;  // of the series that showed it
    int64_t time_ms = 0;
    uint64_t kills = 1;
  };
  static bool IsFor(SeriesKind kind) {
    return kind == SeriesKind::kRestartsTotal || kind == SeriesKind::kOomReason ||
           kind == SeriesKind::kOomEnded;
  }

  // A sample of one of the three series of container `key`. A kill is given once, with the later of the two
  // samples that tell it. REQUIRES: IsFor(kind).
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
  };
  static std::optional<Kill> Judge(Container& container);

  absl::flat_hash_map<uint64_t, Container> containers_;
};

}  // namespace taut
