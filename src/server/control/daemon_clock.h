// The daemon's time, and what its log says of it: ClockGuard with this machine's clocks, the control plane and the
// log.
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

// Step and Await come from the loop; the rest from any thread.
class DaemonClock {
 public:
  struct Clocks {
    std::function<Timestamp()> wall;
    std::function<double()> steady_s;
  };
  // `log` outlives it.
  DaemonClock(ClockSource source, Clocks clocks, DaemonLog& log)
      : source_(source), clocks_(std::move(clocks)), log_(log) {}

  // Begins to compare the wall clock with what is stored; once, after the restore. `wait_s`: as ClockGuard's,
  // where the wall clock decides. `control` outlives it.
  void Begin(ControlPlane& control, int wait_s);
  bool begun() const { return control_ != nullptr; }
  // Returns the time that is believed; the wall clock's before Begin.
  Timestamp Now() const;
  // Returns the same, or the samples' time where that is the cell's. After Begin.
  Timestamp CellNow() const;
  // Returns one sentence why the time is not known; "" if it is.
  std::string Doubt() const;
  // Takes an operator's word that the wall clock is right. False: nothing waits for it.
  bool Confirm();
  // Holds the wall clock against the others, tells the control plane, logs what is wrong, and returns the time.
  Timestamp Step();
  // Waits until the clock of a start far beyond the stored data is confirmed or found wrong, with a copy of the
  // store at `store_path`. Nothing is closed, decided or ended meanwhile; samples and agents are heard.
  void Await(const std::string& store_path, const std::function<bool()>& stopping,
             const std::function<void()>& pause);

 private:
  bool IsUnproven() const;

  const ClockSource source_;
  const Clocks clocks_;
  DaemonLog& log_;
  ControlPlane* control_ = nullptr;
  mutable std::mutex mutex_;         // over guard_
  std::optional<ClockGuard> guard_;  // once it is known what is stored
  std::string said_;
};

}  // namespace taut::server
