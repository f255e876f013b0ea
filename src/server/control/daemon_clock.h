// The daemon's time, and its log lines about the clock: joins ClockGuard with this machine's clocks, the
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

// The loop's thread calls Begin, Step and Await; any thread may call the others.
class DaemonClock {
 public:
  struct Clocks {
    std::function<Timestamp()> wall;
    std::function<double()> steady_s;
  };
  // `log` outlives it.
  DaemonClock(ClockSource source, Clocks clocks, DaemonLog& log)
      : source_(source), clocks_(std::move(clocks)), log_(log) {}

  // Starts to compare the wall clock with the stored data; called once, after the restore. `wait_s`:
  // ClockGuard's option, ignored with time by samples. `control` outlives this object.
  void Begin(ControlPlane& control, int wait_s);
  bool begun() const { return control_ != nullptr; }
  // Returns the believed time; the wall clock's before Begin.
  Timestamp Now() const;
  // Returns the cell's time: the samples' with `clock: samples`, else Now(). After Begin.
  Timestamp CellNow() const;
  // Returns one sentence why the time is not known; "" if it is known.
  std::string Doubt() const;
  // Accepts an operator's confirmation of the wall clock. Returns false if no start waits for it.
  bool Confirm();
  // Compares the wall clock with the other sources, informs the control plane, logs what is wrong, and
  // returns the time.
  Timestamp Step();
  // Waits until the clock of a start far beyond the stored data is confirmed or found wrong, or until
  // `stopping`. Makes a copy of the store at `store_path` first, and keeps it if no samples of other machines
  // have confirmed or refuted the clock. Meanwhile nothing is closed, decided or ended; samples and agents
  // are accepted.
  void Await(const std::string& store_path, const std::function<bool()>& stopping,
             const std::function<void()>& pause);

 private:
  bool IsUnproven() const;

  const ClockSource source_;
  const Clocks clocks_;
  DaemonLog& log_;
  ControlPlane* control_ = nullptr;
  mutable std::mutex mutex_;         // over guard_
  std::optional<ClockGuard> guard_;  // set by Begin, when the stored data are known
  std::string said_;
};

}  // namespace taut::server
