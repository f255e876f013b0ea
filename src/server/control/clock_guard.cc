#include "server/control/clock_guard.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/base/strings.h"

namespace taut::server {
namespace {

// There is at most one vote a second, the median of the requests in a step, and votes are remembered for five
// minutes. A second with a thousand requests therefore has no more weight than a second with one request.
constexpr double kVoteSeconds = 1, kRememberSeconds = 300;
constexpr size_t kMostMachines = 64;  // greatest number of machines remembered during a wait

double SecondsOf(Timestamp t) { return static_cast<double>(t.us) / static_cast<double>(kMicrosPerSecond); }

std::string Span(double seconds) {
  const double s = std::abs(seconds);
  if (s < 120) return StrCat(std::llround(s), " s");
  if (s < 7200) return StrCat(std::llround(s / 60), " min");
  if (s < 2 * 86'400) return StrCat(std::llround(s / 3600), " h");
  return StrCat(std::llround(s / 86'400), " days");
}

}  // namespace

ClockGuard::ClockGuard(const Options& options, Timestamp wall, double steady_s,
                       std::optional<Timestamp> stored)
    : options_(options), base_s_(SecondsOf(wall)), base_steady_s_(steady_s), last_steady_s_(steady_s) {
  if (!stored.has_value()) return;
  stored_offset_s_ = SecondsOf(*stored) - steady_s;
  const double ahead = SecondsOf(wall) - SecondsOf(*stored);
  // A start at most soon_s after the newest stored window needs no samples to confirm the wall clock.
  confirmed_ = ahead >= 0 && ahead <= static_cast<double>(options_.soon_s);
  if (ahead > static_cast<double>(options_.soon_s) && options_.wait_s > 0) {
    state_ = State::kWaits;
    wait_since_s_ = steady_s;
    wall_ahead_s_ = ahead;
    return;
  }
  if (ahead >= static_cast<double>(-options_.max_step_s)) return;
  confirmed_ = true;  // the stored data agree with the held time
  Adopt(SecondsOf(*stored), steady_s, State::kHolds);
  wall_ahead_s_ = ahead;
  ++jumps_;
}

Timestamp ClockGuard::At(double steady_s) const {
  const double s = base_s_ + std::max(0.0, steady_s - base_steady_s_);
  return {std::llround(s * static_cast<double>(kMicrosPerSecond))};
}

void ClockGuard::Adopt(double time_s, double steady_s, State state) {
  base_s_ = time_s;
  base_steady_s_ = steady_s;
  state_ = state;
}

void ClockGuard::TakeVotes(double steady_s, std::span<const SaidTime> said) {
  if (!said.empty() && (votes_.empty() || steady_s - votes_.back().steady_s >= kVoteSeconds)) {
    std::vector<Timestamp> sorted;
    for (const SaidTime& s : said) sorted.push_back(s.newest);
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    votes_.push_back({steady_s, SecondsOf(*middle) - steady_s});
  }
  while (!votes_.empty() && votes_.front().steady_s < steady_s - kRememberSeconds) votes_.pop_front();
}

int ClockGuard::VotesFor(double time_s, double steady_s) const {
  const auto agree = static_cast<double>(options_.agree_s);
  const double offset = time_s - steady_s, wall = SecondsOf(At(steady_s)) + wall_ahead_s_ - steady_s,
               held = SecondsOf(At(steady_s)) - steady_s;
  return static_cast<int>(std::ranges::count_if(votes_, [&](const Vote& v) {
    const double off = std::abs(v.offset_s - offset);
    return off <= agree && off <= std::abs(v.offset_s - wall) && off <= std::abs(v.offset_s - held);
  }));
}

std::optional<double> ClockGuard::SendersTime(double steady_s) const {
  if (votes_.size() < static_cast<size_t>(options_.min_votes)) return std::nullopt;
  if (votes_.back().steady_s - votes_.front().steady_s < static_cast<double>(options_.confirm_s)) {
    return std::nullopt;
  }
  std::vector<double> offsets;
  for (const Vote& v : votes_) offsets.push_back(v.offset_s);
  std::ranges::sort(offsets);
  if (offsets.back() - offsets.front() > static_cast<double>(options_.agree_s)) return std::nullopt;
  return offsets[offsets.size() / 2] + steady_s;
}

bool ClockGuard::senders_disagree() const {
  const std::optional<double> senders = SendersTime(last_steady_s_);
  return senders.has_value() &&
         *senders > SecondsOf(At(last_steady_s_)) + static_cast<double>(options_.agree_s);
}

double ClockGuard::AheadOfStored(double wall_s, double steady_s) const {
  return wall_s - (stored_offset_s_.value_or(0) + steady_s);
}

size_t ClockGuard::MachinesFor(double time_s, double steady_s) const {
  return static_cast<size_t>(std::ranges::count_if(said_by_, [&](const auto& said) {
    return std::abs(said.second + steady_s - time_s) <= static_cast<double>(options_.agree_s);
  }));
}

void ClockGuard::Wait(double wall_s, double steady_s, std::span<const SaidTime> said) {
  const double step = wall_s - SecondsOf(At(steady_s)), ahead = AheadOfStored(wall_s, steady_s);
  if (std::abs(step) > static_cast<double>(options_.max_step_s)) {
    ++jumps_;
    was_wrong_ = step < 0;
    asserted_ = false;
    wait_since_s_ = steady_s;
  }
  if (ahead < static_cast<double>(-options_.max_step_s)) {
    confirmed_ = true;  // the stored data agree with the held time
    Adopt(*stored_offset_s_ + steady_s, steady_s, State::kHolds);
    return;
  }
  Adopt(wall_s, steady_s, State::kWaits);
  for (const SaidTime& s : said) {
    if (s.sender != 0 && (said_by_.size() < kMostMachines || said_by_.contains(s.sender)))
      said_by_[s.sender] = SecondsOf(s.newest) - steady_s;
  }
  const auto soon = static_cast<double>(options_.soon_s);
  const bool is_proven = ahead <= soon || MachinesFor(wall_s, steady_s) >= options_.min_senders;
  confirmed_ = asserted_ || is_proven;
  if (confirmed_) {
    unproven_ = !is_proven;
    asserted_ = false;
    state_ = State::kFollows;
    return;
  }
  const bool waited = steady_s - wait_since_s_ >= static_cast<double>(options_.wait_s);
  const std::optional<double> senders = SendersTime(steady_s);
  const double earlier = senders.has_value() ? wall_s - *senders : 0;
  // A backlog of samples is at most a day old, and several machines do not have the same backlog for the
  // whole wait. Older samples therefore mean that the wall clock is ahead.
  const bool others = earlier > static_cast<double>(options_.max_backlog_s) ||
                      (waited && earlier > soon && MachinesFor(*senders, steady_s) >= options_.min_senders);
  if (others && AheadOfStored(*senders, steady_s) >= 0) {
    was_wrong_ = true;
    ++jumps_;
    Adopt(*senders, steady_s, State::kSenders);
  } else if (waited) {
    unproven_ = true;
    state_ = State::kFollows;
  }
}

Timestamp ClockGuard::Step(Timestamp wall_time, double steady_s, std::span<const SaidTime> said) {
  steady_s = std::max(steady_s, last_steady_s_);
  const double wall = SecondsOf(wall_time);
  const double held = SecondsOf(At(steady_s));
  const double last = SecondsOf(At(last_steady_s_));
  last_steady_s_ = steady_s;
  was_wrong_ = false;
  if (state_ == State::kWaits) {
    Wait(wall, steady_s, said);
    TakeVotes(steady_s, said);
    wall_ahead_s_ = waits() ? AheadOfStored(wall, steady_s) : wall - SecondsOf(At(steady_s));
  } else {
    wall_ahead_s_ = wall - held;
    const bool near = std::abs(wall_ahead_s_) <= static_cast<double>(options_.max_step_s);
    if (state_ == State::kFollows && !near) Jump(held, steady_s);
    TakeVotes(steady_s, said);
    if (near) {
      const int for_wall = VotesFor(wall, steady_s);
      // The time never decreases: it stays constant until a slightly corrected clock has caught up.
      Adopt(std::max(wall, last), steady_s, State::kFollows);
      confirmed_ |= for_wall >= options_.min_votes;
    } else {
      MaybeFollow(wall, held, steady_s);
    }
    MaybeBelieveSenders(wall, steady_s);
    wall_ahead_s_ = state_ == State::kFollows ? 0 : wall - SecondsOf(At(steady_s));
  }
  shifted_ = std::abs(SecondsOf(At(steady_s)) - held) > 1;
  return At(steady_s);
}

void ClockGuard::Jump(double held_s, double steady_s) {
  ++jumps_;
  confirmed_ |= VotesFor(held_s, steady_s) > 0;
  votes_.clear();  // votes before the jump do not decide between the two clocks
  Adopt(held_s, steady_s, State::kHolds);
}

void ClockGuard::MaybeFollow(double wall_s, double held_s, double steady_s) {
  const int for_wall = VotesFor(wall_s, steady_s);
  const int for_held = VotesFor(held_s, steady_s);
  const bool lasts =
      !votes_.empty() && steady_s - votes_.front().steady_s >= static_cast<double>(options_.confirm_s);
  const bool senders_agree = lasts && for_wall >= options_.min_votes && for_held * 10 <= for_wall;
  // Before any source has agreed with the held time, the wall clock's time is as probable as the held time.
  const bool possible = !stored_offset_s_.has_value() ||
                        wall_s >= *stored_offset_s_ + steady_s - static_cast<double>(options_.max_step_s);
  const bool unknown = !confirmed_ && votes_.empty() && possible;
  if (senders_agree || (unknown && state_ == State::kHolds)) {
    Adopt(wall_s, steady_s, State::kFollows);
    confirmed_ = senders_agree;
  }
}

void ClockGuard::MaybeBelieveSenders(double wall_s, double steady_s) {
  const std::optional<double> senders = SendersTime(steady_s);
  if (!senders.has_value()) return;
  const double now = SecondsOf(At(steady_s));
  const auto agree = static_cast<double>(options_.agree_s), day = static_cast<double>(options_.max_backlog_s);
  // The wall clock is known to be wrong in kHolds, and the held time can only be too early. An unconfirmed
  // wall clock in kFollows may be ahead.
  const bool later = state_ == State::kHolds && wall_s<now&& * senders> now + agree && *senders <= now + day;
  const bool earlier = state_ == State::kFollows && !confirmed_ && *senders < now - day;
  if (earlier) ++jumps_;
  if (later || earlier) Adopt(*senders, steady_s, State::kSenders);
}

std::string ClockGuard::Sentence() const {
  if (state_ == State::kFollows) return "";
  if (waits()) {
    return StrCat(
        "this machine's clock is ", Span(wall_ahead_s_),
        " beyond the stored data: tautd was stopped, or the clock is wrong. No window closes and nothing "
        "ends until samples of ",
        options_.min_senders, " other machines agree with it, ", Span(static_cast<double>(options_.wait_s)),
        " have passed, or an operator confirms it (taut confirm-clock)");
  }
  return StrCat("this machine's clock is ", Span(wall_ahead_s_), wall_ahead_s_ > 0 ? " ahead of" : " behind",
                state_ == State::kSenders
                    ? " the times of the samples; tautd uses the times of the samples"
                    : " the stored windows and the monotonic clock; tautd uses the monotonic clock",
                " until the clock is right again");
}

}  // namespace taut::server
