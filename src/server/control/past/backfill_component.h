// Backfills mapped series from a Prometheus: the last days into an empty store, or the gap since the last stored
// window. Reads in time order, retries while the server is unreachable, and resumes after a restart.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/base/time.h"
#include "server/control/component.h"
#include "server/control/kept_state.h"

namespace taut::server {

// Progress of the backfill.
struct BackfillProgress {
  uint64_t done = 0, total = 0;  // seconds of history: read so far, and in total
  std::string sentence;
  bool running = false;
  // While running: reason for the retry; after the end: reason for the failure; "" if none.
  std::string error;
};

class BackfillComponent final : public Component {
 public:
  struct Options {
    BackfillConfig config;
    std::vector<MappingRule> rules;
    // Least length of a gap that is read. A gap is the time since the end of the last stored window. nullopt: gaps
    // are not read.
    std::optional<std::chrono::seconds> gap;
    // Length of the period before the present in which windows are still open. Samples of this period are needed.
    std::chrono::seconds open{0};
    // Calls ControlPlane::Tick with kPast, and does other work that is due in the meantime.
    std::function<absl::Status(Timestamp through)> tick;
    // Pauses between retries grow from the first to the longest. The backfill fails after the server was
    // unreachable for `total`. Live windows wait during the retries, so the backfill of a gap fails sooner than
    // the backfill of an empty store.
    struct Patience {
      std::chrono::seconds first_pause, longest_pause, total;
    };
    Patience patience{std::chrono::seconds(30), std::chrono::seconds(300), std::chrono::seconds(1800)};
    Patience gap_patience{std::chrono::seconds(5), std::chrono::seconds(30), std::chrono::seconds(300)};
  };
  // `context` outlives this object.
  BackfillComponent(Options options, const DaemonContext& context);
  // Returns the options of a configuration.
  static Options OptionsOf(const DaemonConfig& config);

  std::string_view name() const override { return "backfill"; }
  // Sets the function that accepts the time which a failed backfill did not read: [last stored window, present).
  // If the function returns OK, its owner reads this time later, also after a restart. On an error, the stored
  // mark of the backfill is not deleted. Called before Run.
  void ReadLaterBy(std::function<absl::Status(SilentSpan)> read_later) {
    read_later_ = std::move(read_later);
  }
  // Reads the missing history in the loop's thread, before the first live tick. Returns OK also if no history is
  // missing. Returns Cancelled if the daemon stops. On another error, history that is already stored is not
  // removed, and the rest is passed to ReadLaterBy.
  absl::Status Run();
  // Returns true once Run has ended. `ended`, ForgetError and `progress` are thread-safe.
  bool ended() const { return ended_; }
  // Clears the error. Called after another component has read the time that this backfill did not read.
  void ForgetError();
  // Returns the progress of the backfill; nullopt if no backfill was necessary.
  std::optional<BackfillProgress> progress() const;
  void Collect(MetricsText& out) const override;

 private:
  enum class What : uint8_t { kFirst, kInterrupted, kGap };
  // Returns the kind of missing history; nullopt if no history is missing at `now`.
  std::optional<What> Missing(Timestamp now) const;
  Timestamp Begin(Timestamp now) const;
  absl::Status ReadUntilDone(What what);
  absl::Status ReadOn(What what, Timestamp now);
  // Waits for `pause`, with ticks that handle OOM kills of the present.
  void Wait(std::chrono::seconds pause);
  absl::Status Mark(What what);
  // After a failure, passes the unread time to the function of ReadLaterBy. Returns true if the stored mark is no
  // longer needed. Sets `rest` to a sentence for the log.
  bool HandOver(Timestamp begun, std::string& rest);
  void Note(std::string_view error, bool running);

  absl::Status ReadAll();

  const Options options_;
  const DaemonContext& context_;
  KeptState mark_;  // mark of an incomplete backfill
  // function of ReadLaterBy; null: the rest is never read
  std::function<absl::Status(SilentSpan)> read_later_;
  std::atomic<bool> ended_ = false;
  std::optional<Timestamp> begin_;   // start of the history that was missing at the daemon's start
  std::optional<Timestamp> ticked_;  // end of the last tick
  mutable std::mutex mutex_;
  std::optional<BackfillProgress> progress_;
};

}  // namespace taut::server
