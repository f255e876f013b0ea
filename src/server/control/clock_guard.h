// Determines the present time although the machine's clock may jump. Compares the wall clock with the
// monotonic ("steady") clock, the stored data and the times of samples.
//
// Does no I/O: every time is an argument. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "common/base/time.h"
#include "server/control/clock_view.h"

namespace taut::server {

class ClockGuard {
 public:
  struct Options {
    // Greatest difference between the steady clock and the wall clock at which the wall clock is followed.
    // NTP corrects a clock by less.
    int64_t max_step_s = 60;
    // Greatest difference between samples and a clock that counts as agreement, seconds.
    int64_t agree_s = 600;
    // Time for which senders must agree with the wall clock, and not with the steady clock, until the wall clock
    // is followed after a jump, seconds.
    int64_t confirm_s = 30;
    // Least number of votes for an agreement. There is at most one vote a second.
    int min_votes = 3;
    // Greatest age of samples that senders queue, seconds. After a stop, any later time is possible. If the wall
    // clock is further ahead of all senders than this age, the senders' time is used.
    int64_t max_backlog_s = 86'400;
    // Greatest time from the newest stored data to a start that needs no confirmation, seconds. After a longer
    // time, either the machine was off or its clock is wrong.
    int64_t soon_s = 3600;
    // One of three things confirms a start: samples from `min_senders` other machines that agree with the
    // clock, `wait_s` without a jump of the clock, or Confirm(). `wait_s` = 0: no start waits.
    size_t min_senders = 2;
    int64_t wait_s = 600;
  };

  // `stored`: latest time known from before the start, absent if none. The present time is not earlier than
  // `stored`.
  ClockGuard(const Options& options, Timestamp wall, double steady_s, std::optional<Timestamp> stored);
  ClockGuard(Timestamp wall, double steady_s, std::optional<Timestamp> stored)
      : ClockGuard(Options(), wall, steady_s, stored) {}

  // Returns the present time. `said`: time of the newest sample of each request since the last call, including
  // refused requests. A `steady_s` below the previous value is replaced by the previous value.
  Timestamp Step(Timestamp wall, double steady_s, std::span<const SaidTime> said);
  // Returns the present time between two steps: the time of the last step, advanced by the steady clock.
  Timestamp At(double steady_s) const;

  // Returns true if the last step moved the time by more than a second from the extrapolation of the step
  // before.
  bool shifted() const { return shifted_; }

  enum class State : uint8_t {
    kFollows,  // the wall clock's time is used
    kHolds,    // the wall clock jumped or is behind the stored data: the steady clock advances the time
    kSenders,  // the steady clock advances the time of the senders
    kWaits,  // the wall clock's time is used without confirmation, because it is far ahead of the stored data
  };
  State state() const { return state_; }
  bool waits() const { return state_ == State::kWaits; }
  // Accepts an operator's confirmation of the wall clock: the next step adopts the wall clock's time. No effect
  // unless waits().
  void Confirm() { asserted_ = waits(); }
  // Returns true if a wait ended by time or by an operator, without agreeing samples from other machines.
  bool unproven() const { return unproven_; }
  // Returns true if the last step found that the wall clock, which was used during the wait, was ahead. Samples
  // that were accepted during the wait then lie in the future.
  bool was_wrong() const { return was_wrong_; }
  // Returns true if all senders of the last minutes agree on a time that is more than `agree_s` later than the
  // believed time. Samples of these senders are dropped.
  bool senders_disagree() const;
  // Returns the lead of the wall clock over the believed time, seconds.
  double wall_ahead_s() const { return wall_ahead_s_; }
  // Returns the number of jumps since the start.
  uint64_t jumps() const { return jumps_; }
  // Returns one sentence about the state of the clock, for a log or a person; "" while the wall clock is
  // followed.
  std::string Sentence() const;

 private:
  struct Vote {
    double steady_s = 0;
    double offset_s = 0;  // time of the sample less steady_s
  };
  void TakeVotes(double steady_s, std::span<const SaidTime> said);
  // Continues or ends the wait.
  void Wait(double wall_s, double steady_s, std::span<const SaidTime> said);
  // Handles a jump of the followed wall clock: the steady clock advances the time from `held_s` on.
  void Jump(double held_s, double steady_s);
  // Follows a wall clock that differs from the held time if senders agree with the wall clock. In kHolds, also
  // follows the wall clock without votes, if its time is possible and nothing has confirmed the held time.
  void MaybeFollow(double wall_s, double held_s, double steady_s);
  // Adopts the senders' time if the senders agree on another possible time.
  void MaybeBelieveSenders(double wall_s, double steady_s);
  // Returns the number of other machines whose samples agree with the time `time_s`.
  size_t MachinesFor(double time_s, double steady_s) const;
  // Returns the wall clock's time less a lower bound of the present time: the newest stored time plus the steady
  // time since the start.
  double AheadOfStored(double wall_s, double steady_s) const;
  void Adopt(double time_s, double steady_s, State state);
  // Returns the median time of the votes if all votes agree and the oldest is at least confirm_s old; else
  // nullopt.
  std::optional<double> SendersTime(double steady_s) const;
  int VotesFor(double time_s, double steady_s) const;

  const Options options_;
  double base_s_ = 0, base_steady_s_ = 0;  // believed time, and the steady time at which it was adopted
  double last_steady_s_ = 0;
  // Newest stored time less the steady time at the start; a lower bound.
  std::optional<double> stored_offset_s_;
  State state_ = State::kFollows;
  bool shifted_ = false;
  bool confirmed_ = false;  // true once samples have agreed with the wall clock since the start
  bool asserted_ = false, was_wrong_ = false, unproven_ = false;
  double wait_since_s_ = 0;
  // Offsets of the senders' newest samples during a wait (Vote::offset_s). Key: sender.
  std::map<uint64_t, double> said_by_;
  double wall_ahead_s_ = 0;
  uint64_t jumps_ = 0;
  // Votes of the last five minutes, at most one a second. A vote is the median of the senders' times in a
  // step.
  std::deque<Vote> votes_;
};

}  // namespace taut::server
