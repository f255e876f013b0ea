// The daemon's time, and its log lines about the clock. Connects ClockGuard with this machine's clocks, the
// control plane and the log.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "common/base/clock_source.h"
#include "common/base/daemon_log.h"
#include "common/base/time.h"
#include "server/control/clock_guard.h"
#include "server/control/control_plane.h"

namespace taut::server {

// The loop's thread calls Begin, Step and Await; any thread may call the other functions.
class DaemonClock {
 public:
  struct Clocks {
    std::function<Timestamp()> wall;
    std::function<double()> steady_s;
  };
  // `log` must outlive this object.
  DaemonClock(ClockSource source, Clocks clocks, DaemonLog& log)
      : source_(source), clocks_(std::move(clocks)), log_(log) {}

  // Starts to compare the wall clock with the stored data. Called once, after the restore. `wait_s`: as
  // ClockGuard::Options::wait_s, ignored with `clock: samples`. `control` must outlive this object.
  void Begin(ControlPlane& control, int wait_s);
  bool begun() const { return control_ != nullptr; }
  // Returns the believed time; before Begin, the wall clock's time.
  Timestamp Now() const;
  // Returns the cell's time: the samples' time with `clock: samples`, else Now(). REQUIRES: Begin was called.
  Timestamp CellNow() const;
  // Returns a sentence with the reason why the time is not known; "" if the time is known.
  std::string Doubt() const;
  // Accepts an operator's confirmation of the wall clock. Returns false if no start waits for a confirmation.
  bool Confirm();
  // Compares the wall clock with the other sources of time. Passes the time to the control plane, logs faults of
  // the clock, and returns the believed time.
  Timestamp Step();
  // If the clock is far ahead of the stored data, waits until the clock is confirmed or found wrong, or until
  // `stopping` returns true. First copies the store at `store_path`. The copy is kept if no samples of other
  // machines have confirmed or refuted the clock. During the wait, samples and agents are accepted, but no window
  // closes and no decision is made.
  void Await(const std::string& store_path, const std::function<bool()>& stopping,
             const std::function<void()>& pause);

 private:
  bool IsUnproven() const;

  const ClockSource source_;
  const Clocks clocks_;
  DaemonLog& log_;
  ControlPlane* control_ = nullptr;
  mutable std::mutex mutex_;         // lock for guard_
  std::optional<ClockGuard> guard_;  // guard, which Begin creates from the stored data
  std::string said_;
};

}  // namespace taut::server
