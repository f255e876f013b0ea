// How a limit gets from where it is to where it was ordered: up at once, down in steps that keep clear of
// usage, with patience when the kernel refuses; and what a node may do by itself when a task is killed or
// throttled. Arithmetic only: time is an argument, and whoever calls writes the limit and says how it went.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/resource.h"

namespace taut {

struct MoverOptions {
  // Memory, down: a step takes off at most this share of the limit, one each step_interval_us.
  double shrink_share = 0.2;
  int64_t step_interval_us = 1'000'000;
  // and never goes below usage * (1 + margin_share) + margin_bytes.
  double margin_share = 0.1;
  double margin_bytes = 4.0 * (1 << 20);
  // After a refusal: twice as long each time, up to max.
  int64_t backoff_us = 2'000'000;
  int64_t max_backoff_us = 300'000'000;
  // After an OOM kill at L: max(ratio * L, L + plus), as the recommenders do (papers.md, section 1).
  double oom_ratio = 1.2;
  double oom_plus_bytes = 100.0 * (1 << 20);
  // CPU: if more than this share of the periods since the last look were throttled, the limit is raised by
  // this much, and no order below goes through for so long.
  double throttled_share = 0.01;
  double throttle_ratio = 1.25;
  int64_t throttle_hold_us = int64_t{3600} * 1'000'000;
};

enum class MoveState : uint8_t {
  kIdle,      // where it should be, or nothing was ordered
  kStepping,  // on its way down
  kHeld,      // usage is in the way
  kRefused    // the kernel or engine said no; tried again after the backoff
};

// One task, one resource. Steady time in microseconds throughout. Not thread-safe.
class LimitMover {
 public:
  LimitMover(Resource resource, const MoverOptions& options) : resource_(resource), options_(options) {}

  // What is in force, as read back (absent: no limit). At the start, after every write, and when somebody
  // else changed it.
  void SetCurrent(std::optional<double> limit) { current_ = limit; }
  // Where to go. nullopt: no limit. Orders below the floor of a raise of our own wait at the floor.
  void SetTarget(std::optional<double> limit);
  // Nothing is ordered any more: the limit stays where it is.
  void ClearTarget();
  // What the next write should be, given usage now and its highest in the last minute (bytes or cores;
  // absent: not known, then memory does not go down). nullopt: nothing to do now. The inner optional is the
  // limit (absent: none).
  std::optional<std::optional<double>> Next(std::optional<double> usage, std::optional<double> recent_peak,
                                            int64_t now_us);
  // How the write went. OK: SetCurrent is called with it.
  void Wrote(std::optional<double> limit, int64_t now_us);
  void Refused(int64_t now_us);

  // A task was killed at `limit` (absent: the one in force). The limit to set at once, at most `upper`;
  // nullopt if there is nothing to raise (no limit, or `upper` is reached). It becomes target and floor:
  // orders decided before `at_s` (the cell's clock) do not undo it.
  std::optional<double> OnOom(std::optional<double> limit, std::optional<double> upper, int64_t at_s);
  // Periods and throttled periods since the last look, with the limit in force. As OnOom.
  std::optional<double> OnThrottled(uint64_t periods, uint64_t throttled, std::optional<double> upper,
                                    int64_t now_us);
  // May this order, decided then, be followed? Else it is superseded by a raise of our own.
  bool MayFollow(int64_t decided_s) const;

  MoveState state() const;
  // "usage 212 MiB and its margin are in the way": of the state; "" if idle.
  std::string Sentence() const;
  std::optional<double> current() const { return current_; }
  bool has_target() const { return has_target_; }
  std::optional<double> target() const { return target_; }

 private:
  Resource resource_;
  MoverOptions options_;
  std::optional<double> current_, target_;
  bool has_target_ = false;
};

}  // namespace taut
