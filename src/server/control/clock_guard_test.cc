#include "server/control/clock_guard.h"

#include <vector>

#include "gtest/gtest.h"

namespace taut::server {
namespace {

constexpr int64_t kBeginS = 1'700'000'000, kYear = 365 * 86'400, kDay = 86'400, kHourS = 3600;
Timestamp AtSeconds(double seconds) { return {static_cast<int64_t>(seconds * 1e6)}; }

// A machine whose clock may be wrong. The senders' clocks are right unless a test changes them.
class World {
 public:
  explicit World(std::optional<int64_t> stored_s = std::nullopt, double error = 0,
                 const ClockGuard::Options& options = {})
      : wall_error(error),
        guard(options, AtSeconds(kBeginS + error), 100,
              stored_s ? std::optional(Timestamp::FromSeconds(*stored_s)) : std::nullopt) {}

  // Advances the time. Returns the final error of the guard: the guard's time less the true time.
  double Live(int seconds) {
    Timestamp now;
    for (int i = 0; i < seconds * 2; ++i) {
      true_s_ += 0.5;
      std::vector<SaidTime> said;
      if (senders && i % 10 == 0) {
        for (uint64_t m = 0; m < std::max<uint64_t>(machines, 1); ++m)
          said.push_back({AtSeconds(kBeginS + true_s_ - 4 + sender_error), machines == 0 ? 0 : m + 1});
      }
      now = guard.Step(AtSeconds(kBeginS + true_s_ + wall_error), 100 + true_s_, said);
      if (now < last_) ++backward;
      last_ = now;
    }
    return static_cast<double>(now.us) / 1e6 - kBeginS - true_s_;
  }
  void Pass(double seconds) { true_s_ += seconds; }

  double wall_error = 0, sender_error = 0;
  bool senders = true;
  uint64_t machines = 0;  // number of the senders' machines; 0: only this machine
  int backward = 0;
  ClockGuard guard;

 private:
  double true_s_ = 0;
  Timestamp last_{0};
};

TEST(ClockGuard, FollowsAClockThatIsRight) {
  World w;
  EXPECT_NEAR(w.Live(100), 0, 0.01);
  w.wall_error = 20;
  EXPECT_NEAR(w.Live(1), 20, 0.01) << "small steps are followed";
  w.wall_error = 0;
  EXPECT_GE(w.Live(1), 0) << "and back, without going back";
  EXPECT_NEAR(w.Live(60), 0, 0.01);
  EXPECT_EQ(w.backward, 0);
  EXPECT_EQ(w.guard.jumps(), 0U);
  EXPECT_EQ(w.guard.Sentence(), "");
}

TEST(ClockGuard, AYearAheadForTwelveMinutesChangesNothing) {
  for (const double error : {double{kYear}, double{-kHourS}, 3600.0, 300.0, -300.0, double{-kYear}}) {
    World w;
    w.Live(100);
    w.wall_error = error;
    EXPECT_NEAR(w.Live(720), 0, 0.1) << error;
    EXPECT_EQ(w.guard.state(), ClockGuard::State::kHolds);
    EXPECT_NE(w.guard.Sentence(), "");
    EXPECT_NEAR(w.guard.wall_ahead_s(), error, 0.1);
    EXPECT_EQ(w.guard.jumps(), 1U);
    EXPECT_FALSE(w.guard.senders_disagree());
    w.wall_error = 0;
    EXPECT_NEAR(w.Live(1), 0, 0.1);
    EXPECT_EQ(w.guard.state(), ClockGuard::State::kFollows) << "healed";
    EXPECT_EQ(w.backward, 0);
  }
}

// The machine was suspended: its monotonic clock did not advance, and the senders agree with the wall clock.
TEST(ClockGuard, ASuspendedMachineGoesOnWhenSendersAgree) {
  World w;
  w.Live(100);
  w.wall_error = w.sender_error = 3 * kHourS;
  EXPECT_NEAR(w.Live(10), 0, 0.1) << "not believed at once";
  EXPECT_NEAR(w.Live(120), 3 * kHourS, 5);
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kFollows);
}

// The result does not depend on the interval of the senders, which is a second or a minute.
TEST(ClockGuard, BusyAndQuietSendersAreHeard) {
  for (const bool busy : {true, false}) {
    ClockGuard guard(AtSeconds(kBeginS), 0, std::nullopt);
    Timestamp now;
    for (int tick = 1; tick <= 5 * 400; ++tick) {
      const double steady = tick / 5.0, wall = kBeginS + steady + (steady > 100 ? 3 * kHourS : 0);
      std::vector<SaidTime> said;
      if (busy) said.assign(64, {AtSeconds(wall - 3)});
      if (!busy && tick % 300 == 0) said.push_back({AtSeconds(wall - 3)});
      now = guard.Step(AtSeconds(wall), steady, said);
    }
    EXPECT_EQ(guard.state(), ClockGuard::State::kFollows) << busy;
    EXPECT_EQ(guard.jumps(), 1U);
  }
}

TEST(ClockGuard, AStartWithAClockBehindWhatIsStoredGoesOnFromThere) {
  World w(kBeginS - 60, -kHourS);
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kHolds);
  EXPECT_NEAR(w.Live(300), -60, 1);
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kHolds);
  w.wall_error = 0;
  EXPECT_NEAR(w.Live(1), 0, 0.1);
}

// The daemon was stopped for half an hour, and the clock is an hour late: the samples determine the time.
TEST(ClockGuard, SendersAreBelievedRatherThanAClockThatIsKnownToBeWrong) {
  World w(kBeginS - 1800, -kHourS);
  EXPECT_NEAR(w.Live(120), 0, 10);
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kSenders);
  EXPECT_NE(w.guard.Sentence(), "");
  w.wall_error = 0;
  w.Live(2);
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kFollows);
}

TEST(ClockGuard, AStartAYearAheadIsFoundOutBySenders) {
  World w(kBeginS - 600, kYear);
  EXPECT_NEAR(w.Live(120), 0, 10);
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kSenders);
  w.wall_error = 0;
  w.Live(1);
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kFollows);
}

// Senders that resend samples after a long stop are no reason to distrust the clock.
TEST(ClockGuard, ABacklogIsNoReasonToDoubtTheClock) {
  World w(kBeginS - 5 * kHourS);
  w.sender_error = -2 * kHourS;
  EXPECT_NEAR(w.Live(120), 0, 0.1);
  EXPECT_TRUE(w.guard.waits()) << "nothing speaks for the clock yet";
  EXPECT_NEAR(w.Live(500), 0, 0.1);
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kFollows);
}

TEST(ClockGuard, SendersAheadOfARightClockAreNotBelieved) {
  World w;
  w.Live(100);
  w.sender_error = kYear;
  EXPECT_NEAR(w.Live(300), 0, 0.1);
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kFollows);
  EXPECT_TRUE(w.guard.senders_disagree()) << "but it is worth saying";
}

// At the start, the clock is an hour ahead, which is possible after a stop of an hour. Then the clock is an hour
// late, which is impossible.
TEST(ClockGuard, NoTimeBeforeWhatIsStoredIsBelieved) {
  World w(kBeginS - 60, kHourS - 120);
  EXPECT_NEAR(w.Live(60), kHourS - 120, 1);
  w.wall_error = -kHourS;
  EXPECT_GE(w.Live(300), -1) << "samples are not of the future";
  w.wall_error = 0;
  EXPECT_NEAR(w.Live(60), 0, 1);
}

// After a boot, the clock of a machine is a day ahead. The machine's own Prometheus sends samples with the same
// wrong time.
TEST(ClockGuard, AStartFarBeyondTheStoredDataWaits) {
  World w(kBeginS - 600, kDay);
  w.sender_error = kDay;
  EXPECT_NEAR(w.Live(590), kDay, 1);
  EXPECT_TRUE(w.guard.waits());
  EXPECT_NE(w.guard.Sentence().find("taut confirm-clock"), std::string::npos) << w.guard.Sentence();
  EXPECT_NEAR(w.guard.wall_ahead_s(), kDay + 600, 5);
  w.wall_error = w.sender_error = 0;
  EXPECT_NEAR(w.Live(1), 0, 0.1) << "the clock is set right";
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kFollows);
  EXPECT_EQ(w.guard.jumps(), 1U);
  EXPECT_EQ(w.guard.Sentence(), "");
}

TEST(ClockGuard, AStepOfTheWaitSaysThatItWasWrong) {
  World w(kBeginS - 600, kDay);
  w.Live(10);
  EXPECT_FALSE(w.guard.was_wrong());
  (void)w.guard.Step(AtSeconds(kBeginS + 11), 111, {});
  EXPECT_TRUE(w.guard.was_wrong());
  EXPECT_TRUE(w.guard.shifted());
  (void)w.guard.Step(AtSeconds(kBeginS + 12), 112, {});
  EXPECT_FALSE(w.guard.was_wrong());
}

TEST(ClockGuard, AClockBehindTheStoredDataEndsTheWait) {
  World w(kBeginS - 600, kDay);
  w.Live(10);
  w.wall_error = -kDay;
  EXPECT_NEAR(w.Live(10), -600, 1);
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kHolds);
}

// After an outage of a day, the first samples of two machines confirm the clock.
TEST(ClockGuard, SamplesOfSeveralMachinesEndTheWait) {
  World w(kBeginS - kDay);
  w.machines = 1;
  EXPECT_NEAR(w.Live(60), 0, 0.1);
  EXPECT_TRUE(w.guard.waits()) << "one is not enough";
  w.machines = 2;
  EXPECT_NEAR(w.Live(6), 0, 0.1);
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kFollows);
}

// The senders' backlogs do not confirm the clock. The wait ends by time, because nothing contradicts the
// clock.
TEST(ClockGuard, TheTimeOfWaitingEndsTheWait) {
  World w(kBeginS - kDay);
  w.machines = 0;
  EXPECT_NEAR(w.Live(595), 0, 0.1);
  EXPECT_TRUE(w.guard.waits());
  EXPECT_NEAR(w.Live(10), 0, 0.1);
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kFollows);
  World off(kBeginS - kDay, 0, {.wait_s = 0});
  EXPECT_FALSE(off.guard.waits());
}

TEST(ClockGuard, APersonEndsTheWait) {
  World w(kBeginS - kDay);
  w.senders = false;
  w.Live(10);
  w.guard.Confirm();
  EXPECT_NEAR(w.Live(1), 0, 0.1);
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kFollows);
}

// The clock is less than a day ahead: after the wait, the time of two machines that agree is used.
TEST(ClockGuard, SeveralMachinesAreBelievedRatherThanTheClockOfAStart) {
  World w(kBeginS - 600, 20 * kHourS);
  w.machines = 2;
  w.Live(590);
  EXPECT_TRUE(w.guard.waits());
  EXPECT_NEAR(w.Live(20), 0, 10);
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kSenders);
  w.wall_error = 0;
  w.Live(2);
  EXPECT_EQ(w.guard.state(), ClockGuard::State::kFollows);
}

TEST(ClockGuard, AClockThatNothingSpeaksAgainstIsFollowed) {
  World w;
  w.senders = false;
  w.Live(10);
  w.wall_error = kHourS;
  EXPECT_NEAR(w.Live(5), kHourS, 1) << "nothing ever agreed with the time before";
  w.wall_error = 0;
  EXPECT_NEAR(w.Live(5), 0, 1);
}

}  // namespace
}  // namespace taut::server
