// The owner's limit where series read back what Tautline has set, as of pods that were resized.
#include <deque>

#include "gtest/gtest.h"
#include "live/live_fixture.h"

namespace taut {
namespace {

// A cell of one job whose memory limit, as a series says it, is the one in force some windows ago.
class ReadBack {
 public:
  explicit ReadBack(Enforcement enforcement = Enforcement::kAlways) : cell_(1), fleet_(Of(enforcement)) {
    AddJobs(fleet_, 1);
  }
  void Run(int windows) {
    for (int i = 0; i < windows; ++i) {
      ClosedWindow closed = cell_.windows()[static_cast<size_t>(next_++)];
      closed.jobs[0].window.memory_limit_bytes = static_cast<float>(seen_.front());
      seen_.pop_front();
      fleet_.TakeOwnersAmounts(closed, 0, 1);
      out_.Clear();
      Step(fleet_, closed, out_);
      changes_ += out_.decisions.size();
      seen_.push_back(lane().gate.in_force.value_or(template_));
      lowest_owner_ = std::min(lowest_owner_, double{lane().owner_limit});
    }
  }
  void Restart() {
    const std::string saved = Chunk(fleet_);
    LiveFleet again(Of(Enforcement::kAlways));
    AddJobs(again, 1);
    ByteReader in(saved);
    ASSERT_TRUE(again.LoadChunk(0, WindowId{next_}, in).ok());
    const LiveLane& loaded = again.job(JobId{0}).of(Resource::kMemory);
    EXPECT_EQ(loaded.owner_before, lane().owner_before);
    EXPECT_EQ(loaded.ordered_before, lane().ordered_before);
    EXPECT_EQ(Chunk(again), saved);
  }
  LiveFleet& fleet() { return fleet_; }
  const LiveLane& lane() { return fleet_.job(JobId{0}).of(Resource::kMemory); }
  double template_ = 512 * kMiB;
  std::deque<double> seen_ = {template_, template_, template_};
  size_t changes_ = 0;
  double lowest_owner_ = template_;
  PassOutput out_;

 private:
  static LiveSettings Of(Enforcement enforcement) {
    LiveSettings settings = Settings(Policy::kMovingWindow, Mode::kAuto);
    settings.enforcement = enforcement;
    return settings;
  }
  Cell cell_;
  LiveFleet fleet_;
  int next_ = 0;
};

TEST(LiveOwners, WhatIsReadBackIsNotTheOwners) {
  ReadBack job;
  job.Run(8 * kWindowsPerDay);
  EXPECT_GT(job.changes_, 4U);
  ASSERT_TRUE(job.lane().gate.in_force.has_value());
  EXPECT_LT(*job.lane().gate.in_force, 0.9 * job.template_);
  EXPECT_EQ(job.lane().owner_limit, job.template_);
  EXPECT_EQ(job.lowest_owner_, job.template_) << "in any window";
  job.Restart();
  // Nor after the order is taken back, while tasks still have it.
  ASSERT_TRUE(
      Set(job.fleet(), JobId{0}, "mode", "observe", WindowId{8 * kWindowsPerDay}.start_s(), job.out_).ok());
  job.Restart();
  job.Run(50);
  EXPECT_EQ(job.lowest_owner_, job.template_);
}

TEST(LiveOwners, AnotherAmountIsTheOwners) {
  ReadBack job;
  job.Run(5 * kWindowsPerDay);
  ASSERT_TRUE(job.lane().gate.in_force.has_value());
  job.seen_ = {700 * kMiB, 700 * kMiB, 700 * kMiB};
  job.Run(3);
  EXPECT_EQ(job.lane().owner_limit, 700 * kMiB);
  job.Run(10);
  EXPECT_EQ(job.lane().owner_limit, 700 * kMiB) << "while the order is read back again";
}

// A dry run sets nothing: a limit that is like the recommended one is the owner's.
TEST(LiveOwners, WhereNothingIsSetTheLimitIsTheOwners) {
  ReadBack job(Enforcement::kNever);
  job.Run(5 * kWindowsPerDay);
  ASSERT_TRUE(job.lane().gate.in_force.has_value());
  EXPECT_LT(job.lowest_owner_, job.template_);
}

}  // namespace
}  // namespace taut
