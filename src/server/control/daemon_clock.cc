#include "server/control/daemon_clock.h"

#include <utility>
#include <vector>

#include "common/base/probe.h"
#include "common/base/strings.h"
#include "server/store/store_copy.h"

namespace taut::server {

void DaemonClock::Begin(ControlPlane& control, int wait_s) {
  control_ = &control;
  {
    const std::lock_guard lock(mutex_);
    ClockGuard::Options options;
    // With `clock: samples`, this machine's clock decides nothing, so no start waits.
    options.wait_s = source_ == ClockSource::kSamples ? 0 : wait_s;
    guard_.emplace(options, clocks_.wall(), clocks_.steady_s(), control.ingest().time.before());
  }
  (void)Step();  // the first step precedes the first caller of Now
}

Timestamp DaemonClock::Now() const {
  const std::lock_guard lock(mutex_);
  return guard_.has_value() ? guard_->At(clocks_.steady_s()) : clocks_.wall();
}

Timestamp DaemonClock::CellNow() const {
  return source_ == ClockSource::kSamples ? control_->ingest().time.now() : Now();
}

std::string DaemonClock::Doubt() const {
  const std::lock_guard lock(mutex_);
  return guard_.has_value() && guard_->waits() ? guard_->Sentence() : "";
}

bool DaemonClock::Confirm() {
  const std::lock_guard lock(mutex_);
  if (!guard_.has_value() || !guard_->waits()) return false;
  guard_->Confirm();
  return true;
}

Timestamp DaemonClock::Step() {
  const std::vector<SaidTime> said = control_->ingest().samples.TakeSaid();
  ClockView clock;
  Timestamp now;
  bool shifted = false, was_wrong = false, waits = false;
  {
    const std::lock_guard lock(mutex_);
    now = guard_->Step(clocks_.wall(), clocks_.steady_s(), said);
    shifted = guard_->shifted();
    was_wrong = guard_->was_wrong();
    waits = guard_->waits();
    if (source_ == ClockSource::kWall) {
      clock = {guard_->Sentence(), guard_->senders_disagree(), guard_->wall_ahead_s(), guard_->jumps(),
               waits};
    }
  }
  if (shifted) control_->ingest().time.Shift(now);
  if (was_wrong) {
    TAUT_PROBE("the clock of the start was wrong");
    control_->ingest().time.GoBack(now);
  }
  control_->ingest().time.Doubt(waits);
  // The sentence contains a duration that changes at every step, so the sentence is logged only once per incident.
  if (clock.sentence.empty() != said_.empty()) {
    if (clock.sentence.empty()) {
      log_.Info("the clock of this machine agrees again");
    } else {
      log_.Warn(clock.sentence);
    }
    said_ = clock.sentence;
  }
  control_->status().NoteClock(std::move(clock));
  return now;
}

bool DaemonClock::IsUnproven() const {
  const std::lock_guard lock(mutex_);
  return guard_->waits() || guard_->unproven();
}

void DaemonClock::Await(const std::string& store_path, const std::function<bool()>& stopping,
                        const std::function<void()>& pause) {
  if (Doubt().empty()) return;
  const StoreCopy copy(store_path);
  if (const absl::Status s = copy.Make(); !s.ok()) {
    log_.Error(StrCat("no copy of the store was made before the clock is confirmed: ", Message(s)));
  }
  while (!stopping() && !Doubt().empty()) {
    (void)Step();
    pause();
  }
  if (!IsUnproven()) return copy.Drop();
  if (stopping()) return;
  log_.Warn(StrCat(
      "this machine's clock is taken for right, and no other machine has confirmed it. The store as it "
      "was is kept as ",
      copy.Name(store_path), ": docs/operate/backup.md, \"A wrong clock\""));
}

}  // namespace taut::server
