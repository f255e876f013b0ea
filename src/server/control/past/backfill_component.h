// The past of the mapped series from a Prometheus: the last days into an empty store, or what was missed
// since the last stored window. Read in time order, retried while the server is unreachable, and
// continued by the next start where a stop interrupted it.
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

namespace taut::server {

// How far filling in the past has come.
struct BackfillProgress {
  uint64_t done = 0, total = 0;  // seconds of the past
  std::string sentence;
  bool running = false;
  std::string error;  // running: why it waits to try again; else why it ended early; "" for nothing
};

class BackfillComponent final : public Component {
 public:
  struct Options {
    BackfillConfig config;
    std::vector<MappingRule> rules;
    // A last stored window that ended longer ago than this leaves a gap; nullopt: gaps are not read.
    std::optional<std::chrono::seconds> gap;
    // The last sample before a window and those in it are needed for this long.
    std::chrono::seconds open{0};
    // ControlPlane::Tick of the past, and what else is due meanwhile.
    std::function<absl::Status(Timestamp through)> tick;
    // An unreachable server is asked again after pauses from the first to the longest, until it was
    // unreachable for this long. Live windows wait meanwhile: for a gap, less than for a store without any.
    struct Patience {
      std::chrono::seconds first_pause, longest_pause, total;
    };
    Patience patience{std::chrono::seconds(30), std::chrono::seconds(300), std::chrono::seconds(1800)};
    Patience gap_patience{std::chrono::seconds(5), std::chrono::seconds(30), std::chrono::seconds(300)};
  };
  // `context` outlives it.
  BackfillComponent(Options options, const DaemonContext& context);
  // The options of a configuration.
  static Options OptionsOf(const DaemonConfig& config);

  std::string_view name() const override { return "backfill"; }
  // Sets what reads later the time that a failed backfill did not: [last stored window, present). OK: it
  // will be read later, also after a restart. With an error the mark stays. Before Run.
  void ReadLaterBy(std::function<absl::Status(SilentSpan)> read_later) {
    read_later_ = std::move(read_later);
  }
  // In the loop's thread, before the present. OK also if there was nothing to do. Cancelled: stopped before the
  // end. Anything else: what was read stays, and ReadLaterBy's has the rest.
  absl::Status Run();
  // Whether Run has ended. Thread-safe, as the next two.
  bool ended() const { return ended_; }
  // What failed was read by another since then.
  void ForgetError();
  // nullopt: no backfill was asked for, or it was complete before.
  std::optional<BackfillProgress> progress() const;
  void Collect(MetricsText& out) const override;

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

  absl::Status ReadAll();

  const Options options_;
  const DaemonContext& context_;
  const std::string mark_file_;                         // exists while a backfill is not complete; "": none
  std::function<absl::Status(SilentSpan)> read_later_;  // null: it is never read
  std::atomic<bool> ended_ = false;
  std::optional<Timestamp> begin_;   // of what was missing at the start
  std::optional<Timestamp> ticked_;  // through
  mutable std::mutex mutex_;
  std::optional<BackfillProgress> progress_;
};

}  // namespace taut::server
