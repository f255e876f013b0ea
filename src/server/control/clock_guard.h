// Which time it is, though the machine's clock may jump: the wall clock is compared with a clock that only
// runs on, against what is stored, and against what senders of samples say.
//
// Plain arithmetic on its arguments. Not thread-safe.
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
    // The wall clock is followed as long as it keeps this close to the steady one (NTP corrects less).
    int64_t max_step_s = 60;
    // Samples this close to a clock agree with it.
    int64_t agree_s = 600;
    // The wall clock that jumped is believed when senders have agreed with it for this time, and with the
    // steady one not.
    int64_t confirm_s = 30;
    int min_votes = 3;
    // A start after a stop may be any time later. Senders are believed rather than a wall clock that is
    // further ahead of all of them: they do not keep samples for longer.
    int64_t max_backlog_s = 86'400;
    // A start further than this beyond the stored data waits for confirmation: the machine was off, or its
    // clock is wrong.
    int64_t soon_s = 3600;
    // Confirmation is one of: samples of this many other machines that agree with the clock, this time without
    // a change of the clock, or Confirm(). 0 seconds: no start waits.
    size_t min_senders = 2;
    int64_t wait_s = 600;
  };

  // `stored`: the newest time that is known from before, if any: it is not earlier now.
  ClockGuard(const Options& options, Timestamp wall, double steady_s, std::optional<Timestamp> stored);
  ClockGuard(Timestamp wall, double steady_s, std::optional<Timestamp> stored)
      : ClockGuard(Options(), wall, steady_s, stored) {}

  // The time now. `said`: the newest sample of each request since the last call, whether it was taken or not.
  Timestamp Step(Timestamp wall, double steady_s, std::span<const SaidTime> said);
  // The same between two steps, as of the last.
  Timestamp At(double steady_s) const;

  // The last step took another time than the one before goes on to: by more than a second.
  bool shifted() const { return shifted_; }

  enum class State : uint8_t {
    kFollows,  // the wall clock's time is taken
    kHolds,    // it jumped, or is behind what is stored: time goes on by the steady clock
    kSenders,  // as kHolds, with the time that senders say
    kWaits,    // as kFollows, but after a start far beyond the stored data and not confirmed
  };
  State state() const { return state_; }
  bool waits() const { return state_ == State::kWaits; }
  // A person says that the wall clock is right: the next step believes it. Does nothing unless it waits.
  void Confirm() { asserted_ = waits(); }
  // A wait ended by time or by a person, without samples of other machines that agree.
  bool unproven() const { return unproven_; }
  // The last step found that the time of the wait was wrong: samples that were taken by it are of the future.
  bool was_wrong() const { return was_wrong_; }
  // The senders of the last minutes all say that it is much later: what they send is of the far future.
  bool senders_disagree() const;
  // The wall clock's lead over the time that is taken, seconds.
  double wall_ahead_s() const { return wall_ahead_s_; }
  uint64_t jumps() const { return jumps_; }
  // One sentence for a log or a person; "" while the wall clock is followed.
  std::string Sentence() const;

 private:
  struct Vote {
    double steady_s = 0;
    double offset_s = 0;  // of what was said from the steady time line: steady_s + offset_s = said
  };
  void TakeVotes(double steady_s, std::span<const SaidTime> said);
  // A step of the wait: stays in it, or leaves it.
  void Wait(double wall_s, double steady_s, std::span<const SaidTime> said);
  // The wall clock that was followed has jumped: time goes on from `held_s` by the steady clock.
  void Jump(double held_s, double steady_s);
  // Follows a wall clock that is not near the time that is held, if senders agree with it or nothing is known.
  void MaybeFollow(double wall_s, double held_s, double steady_s);
  // Takes the time of the senders, if they agree on another one and may be right.
  void MaybeBelieveSenders(double wall_s, double steady_s);
  // Of other machines, those whose samples agree with this time.
  size_t MachinesFor(double time_s, double steady_s) const;
  // The wall clock's lead over what is stored, as if that had gone on since the start.
  double AheadOfStored(double wall_s, double steady_s) const;
  void Adopt(double time_s, double steady_s, State state);
  // The time that all votes agree on, if they do and have for confirm_s.
  std::optional<double> SendersTime(double steady_s) const;
  int VotesFor(double time_s, double steady_s) const;

  const Options options_;
  double base_s_ = 0, base_steady_s_ = 0;  // the time that is taken, and when that was
  double last_steady_s_ = 0;
  std::optional<double> stored_offset_s_;  // what is stored, on the steady clock's line: it is later now
  State state_ = State::kFollows;
  bool shifted_ = false;
  bool confirmed_ = false;  // since the start something has agreed with the wall clock
  bool asserted_ = false, was_wrong_ = false, unproven_ = false;
  double wait_since_s_ = 0;
  std::map<uint64_t, double> said_by_;  // in the wait, by sender: as Vote::offset_s, the newest
  double wall_ahead_s_ = 0;
  uint64_t jumps_ = 0;
  std::deque<Vote> votes_;  // of the last five minutes, one a second at most: the median of what was said
};

}  // namespace taut::server
