// The past of the mapped series from a Prometheus: the last days into an empty store, or what was missed
// since the last stored window. Read in time order, retried while the server is unreachable, and
// continued by the next start where a stop interrupted it.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/base/time.h"
#include "server/api/api.h"
#include "server/config/daemon_config.h"
#include "server/control/control_plane.h"

namespace taut::tools {

class BackfillRun {
 public:
  struct Options {
    server::BackfillConfig config;
    std::vector<server::MappingRule> rules;
    // Exists while a backfill is not complete; "": a stop forgets everything anyway.
    std::string mark_file;
    // A last stored window that ended longer ago than this leaves a gap; nullopt: gaps are not read.
    std::optional<std::chrono::seconds> gap;
    // The last sample before a window and those in it are needed for this long.
    std::chrono::seconds open{0};
    std::function<Timestamp()> now;
    // ControlPlane::TickPast, and what else is due meanwhile.
    std::function<absl::Status(Timestamp through)> tick;
    std::function<bool()> should_stop;
    std::function<void(std::chrono::seconds)> wait;  // may end early when should_stop
    // Told of the time that a backfill did not read because it failed: [last stored window, present). OK: it
    // will be read later, also after a restart. With an error the mark stays. nullptr: it is never read.
    std::function<absl::Status(server::SilentSpan)> read_later;
    // An unreachable server is asked again after pauses from the first to the longest, until it was
    // unreachable for this long. Live windows wait meanwhile: for a gap, less than for a store without any.
    struct Patience {
      std::chrono::seconds first_pause, longest_pause, total;
    };
    Patience patience{std::chrono::seconds(30), std::chrono::seconds(300), std::chrono::seconds(1800)};
    Patience gap_patience{std::chrono::seconds(5), std::chrono::seconds(30), std::chrono::seconds(300)};
  };
  BackfillRun(server::ControlPlane& control, Options options);

  // OK also if there was nothing to do. Cancelled: stopped before the end. Anything else: what was read
  // stays, and read_later has the rest.
  absl::Status Run();
  // What failed was read by another since then. Thread-safe.
  void ForgetError();
  // nullopt: no backfill was asked for, or it was complete before.
  std::optional<server::BackfillProgress> progress() const;

 private:
  // Of what is missing at `now`; nullopt: nothing is.
  enum class What : uint8_t { kFirst, kInterrupted, kGap };
  std::optional<What> Missing(Timestamp now) const;
  Timestamp Begin(Timestamp now) const;
  absl::Status ReadUntilDone(What what);
  absl::Status ReadOn(What what, Timestamp now);
  // Waits, while what is acted on at once still is.
  void Wait(std::chrono::seconds pause);
  absl::Status Mark(What what);
  // After a failure: whether the mark is needed no longer, and for the log whether the rest is read later.
  bool HandOver(Timestamp begun, std::string& rest);
  void Note(std::string_view error, bool running);

  server::ControlPlane& control_;
  const Options options_;
  std::optional<Timestamp> begin_;   // of what was missing at the start
  std::optional<Timestamp> ticked_;  // through
  mutable std::mutex mutex_;
  std::optional<server::BackfillProgress> progress_;
};

}  // namespace taut::tools
