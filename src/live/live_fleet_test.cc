// The living cell against the replay of the same days, and against itself after a stop.
#include "live/live_fleet.h"

#include <cmath>
#include <map>

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/replay.h"

namespace taut {
namespace {

constexpr int kDays = 12;

// A made-up cell, as windows and as days: daily shape, noise, a spike now and then; every job in every
// window.
class Cell {
 public:
  explicit Cell(int jobs) {
    Rng rng(7);
    for (int32_t w = 0; w < kDays * kWindowsPerDay; ++w) {
      ClosedWindow& closed = windows_.emplace_back();
      closed.window = WindowId{w};
      for (int j = 0; j < jobs; ++j) AddJob(static_cast<uint32_t>(j), rng, closed);
    }
  }
  const std::vector<ClosedWindow>& windows() const { return windows_; }

 private:
  static void AddJob(uint32_t id, Rng& rng, ClosedWindow& closed) {
    const double hour = (closed.window.index % kWindowsPerDay) / 12.0;
    JobWindow w;
    w.window = closed.window;
    w.first_task = static_cast<uint32_t>(closed.tasks.size());
    w.num_tasks = 1 + id % 3;
    w.first_bucket = static_cast<uint32_t>(closed.cpu_buckets.size());
    w.cpu_limit_cores = 4;
    w.memory_limit_bytes = static_cast<float>((1 + id) * 512 * kMiB);
    std::map<Bucket, float> buckets;
    for (uint32_t t = 0; t < w.num_tasks; ++t) {
      const double cpu = (0.3 + 0.1 * id) * (1 + 0.5 * std::sin(hour / 24 * 6.283)) * rng.Uniform(0.8, 1.2);
      const double memory = (1 + id) * 128 * kMiB * rng.Uniform(0.8, 1.2) * (rng.Below(400) == 0 ? 2 : 1);
      closed.tasks.push_back({t, static_cast<float>(cpu), static_cast<float>(cpu * 1.1),
                              static_cast<float>(memory * 0.9), static_cast<float>(memory)});
      buckets[Grid::Cpu().BucketOf(cpu)] += 300;
    }
    for (const auto& [bucket, weight] : buckets) closed.cpu_buckets.push_back({bucket, weight});
    w.num_buckets = static_cast<uint32_t>(buckets.size());
    closed.jobs.push_back({JobId{id}, w});
  }
  std::vector<ClosedWindow> windows_;
};

LiveSettings Settings(Policy recommender, Mode mode) {
  LiveSettings s;
  s.vertical.analogs.min_rows = 20;
  s.vertical.analogs.min_days = 3;
  JobPolicy defaults;
  defaults.recommender = recommender;
  defaults.mode = mode;
  s.rules = *PolicyRules::Compile({}, defaults);
  return s;
}

void AddJobs(LiveFleet& fleet, size_t jobs) {
  for (uint32_t j = 0; j < jobs; ++j) fleet.AddJob({JobId{j}, "job-" + std::to_string(j), {}, 0});
}

void Step(LiveFleet& fleet, const ClosedWindow& closed, PassOutput& out) {
  const size_t half = closed.jobs.size() / 2;
  fleet.Observe(closed, 0, half, out);
  fleet.Observe(closed, half, closed.jobs.size(), out);
  fleet.EndWindow(closed, out);
  fleet.Decide(closed, 0, closed.jobs.size(), out);
}

std::string Chunk(const LiveFleet& fleet) {
  std::string bytes;
  ByteWriter out(&bytes);
  fleet.SaveChunk(0, out);
  return bytes;
}

std::string Models(const LiveFleet& fleet) {
  std::string bytes;
  ByteWriter out(&bytes);
  fleet.SaveFleet(out);
  return bytes;
}

// The days of a cell as a replay reads them.
class CellDays final : public DaySource {
 public:
  CellDays(const Cell& cell, size_t jobs) : cell_(cell) {
    for (size_t j = 0; j < jobs; ++j) infos_.push_back({"job-" + std::to_string(j), "", {}, {}});
    for (int32_t d = 0; d < kDays; ++d) days_.push_back(d);
  }
  const std::vector<JobInfo>& jobs() const override { return infos_; }
  const std::vector<int32_t>& days() const override { return days_; }
  int32_t last_day(JobId) const override { return kDays - 1; }
  absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) override {
    std::vector<JobDay> out(infos_.size());
    for (int32_t w = day * kWindowsPerDay; w < (day + 1) * kWindowsPerDay; ++w) {
      const ClosedWindow& closed = cell_.windows()[static_cast<size_t>(w)];
      for (size_t i = 0; i < closed.jobs.size(); ++i) Append(closed, i, out[i]);
    }
    return out;
  }

 private:
  static void Append(const ClosedWindow& closed, size_t i, JobDay& day) {
    JobDay one;
    ToJobDay(closed, i, one);
    JobWindow w = one.windows[0];
    w.first_task += static_cast<uint32_t>(day.tasks.size());
    w.first_bucket += static_cast<uint32_t>(day.cpu_buckets.size());
    day.job = one.job;
    day.day = one.day;
    day.windows.push_back(w);
    day.tasks.insert(day.tasks.end(), one.tasks.begin(), one.tasks.end());
    day.cpu_buckets.insert(day.cpu_buckets.end(), one.cpu_buckets.begin(), one.cpu_buckets.end());
  }
  const Cell& cell_;
  std::vector<JobInfo> infos_;
  std::vector<int32_t> days_;
};

class SameAsReplay : public testing::TestWithParam<Policy> {};

// Windows one by one, as the daemon closes them, give the limits of a replay of whole days, to the bit.
TEST_P(SameAsReplay, WindowByWindow) {
  constexpr size_t kJobs = 9;
  const Cell cell(kJobs);
  const LiveSettings settings = Settings(GetParam(), Mode::kObserve);
  std::map<std::pair<uint32_t, Resource>, std::map<int32_t, std::optional<double>>> replayed;
  CellDays days(cell, kJobs);
  ReplayOptions options;
  options.policies = {GetParam()};
  options.settings = settings.vertical;
  options.warmup_s = kDaySeconds;
  ReplayHooks hooks;
  hooks.on_change = [&](const LimitChange& c) {
    replayed[{c.job.value, c.resource}][c.from.index] = c.limit;
    return absl::OkStatus();
  };
  ASSERT_TRUE(Replay(days, options, hooks).ok());

  LiveFleet fleet(settings);
  AddJobs(fleet, kJobs);
  PassOutput out;
  uint64_t compared = 0;
  for (const ClosedWindow& closed : cell.windows()) {
    for (const JobWindowData& j : closed.jobs) {
      for (const Resource r : kResources) {
        const LiveLane& lane = fleet.job(j.job).of(r);
        const float owner = r == Resource::kCpu ? j.window.cpu_limit_cores : j.window.memory_limit_bytes;
        const auto& steps = replayed[{j.job.value, r}];
        const auto it = steps.upper_bound(closed.window.index);
        ASSERT_NE(it, steps.begin());
        ASSERT_EQ(lane.lane.LimitInForce(owner), std::prev(it)->second)
            << "job " << j.job.value << " " << Name(r) << " window " << closed.window.index;
        ++compared;
      }
    }
    Step(fleet, closed, out);
  }
  EXPECT_EQ(compared, 2 * kJobs * kDays * kWindowsPerDay);
}
INSTANTIATE_TEST_SUITE_P(Live, SameAsReplay,
                         testing::Values(Policy::kPeak, Policy::kMovingWindow, Policy::kEnsemble,
                                         Policy::kAnalogs),
                         [](const auto& tested) { return std::string(Name(tested.param)); });

// Stopped anywhere with checkpoints of any age, and taught what was stored since, it goes on as if it had
// never stopped.
TEST(LiveFleet, GoesOnAfterAStop) {
  constexpr size_t kJobs = 6;
  const Cell cell(kJobs);
  const LiveSettings settings = Settings(Policy::kAnalogs, Mode::kAuto);
  for (const int stop : {300, 5 * kWindowsPerDay - 1, 5 * kWindowsPerDay + 2, 7 * kWindowsPerDay + 100}) {
    for (const int age : {0, 1, 5}) {
      LiveFleet straight(settings);
      AddJobs(straight, kJobs);
      std::vector<Decision> decisions;
      std::string checkpoint, models;
      PassOutput out;
      for (int w = 0; w <= stop; ++w) {
        out.Clear();
        Step(straight, cell.windows()[static_cast<size_t>(w)], out);
        decisions.insert(decisions.end(), out.decisions.begin(), out.decisions.end());
        if (w == stop - age) checkpoint = Chunk(straight);
        if (out.day_ended) models = Models(straight);
      }
      LiveFleet again(settings);
      AddJobs(again, kJobs);
      ByteReader in(checkpoint);
      ASSERT_TRUE(again.LoadChunk(0, in).ok());
      ByteReader fleet_in(models);
      ASSERT_TRUE(again.LoadFleet(fleet_in).ok());
      const WindowId through{stop - age};
      for (int w = stop - age; w <= stop; ++w) {
        again.Redo(cell.windows()[static_cast<size_t>(w)], {&through, 1});
        for (const Decision& d : decisions) {
          if (w > stop - age && d.time_s == WindowId{w}.next().start_s()) again.Redo(d);
        }
      }
      again.EndRestore(decisions.empty() ? 0 : decisions.back().id, 0);
      for (int w = stop + 1; w < stop + 400; ++w) {
        PassOutput a, b;
        Step(straight, cell.windows()[static_cast<size_t>(w)], a);
        Step(again, cell.windows()[static_cast<size_t>(w)], b);
        ASSERT_EQ(a.decisions.size(), b.decisions.size())
            << "stop " << stop << " age " << age << " window " << w;
        for (size_t i = 0; i < a.decisions.size(); ++i) {
          EXPECT_EQ(a.decisions[i].id, b.decisions[i].id);
          EXPECT_EQ(a.decisions[i].after, b.decisions[i].after);
          EXPECT_EQ(a.decisions[i].sentence, b.decisions[i].sentence);
        }
      }
      EXPECT_EQ(Models(straight), Models(again)) << "stop " << stop << " age " << age;
    }
  }
}

TEST(LiveFleet, AnOomRaisesAtOnceWhateverThePeriod) {
  const Cell cell(2);
  LiveFleet fleet(Settings(Policy::kEnsemble, Mode::kAuto));
  AddJobs(fleet, 2);
  PassOutput out;
  for (int w = 0; w < 600; ++w) Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
  const std::optional<double> before = fleet.job(JobId{1}).of(Resource::kMemory).limit();
  ASSERT_TRUE(before.has_value());
  out.Clear();
  OomRecord oom{JobId{1}, 0, WindowId{600}.start_s() + 10, 1, std::nullopt};
  fleet.TakeOom(oom, out);
  EXPECT_EQ(oom.limit, before);
  ASSERT_EQ(out.decisions.size(), 1U);
  EXPECT_EQ(out.decisions[0].kind, DecisionKind::kOomRaise);
  EXPECT_GE(*out.decisions[0].after, 1.19 * *before);
  EXPECT_EQ(fleet.job(JobId{1}).OomsOfWeek(WindowId{600}.day()), 1U);
  EXPECT_EQ(fleet.job(JobId{1}).OomsOfWeek(WindowId{600}.day() + 7), 0U);
}

TEST(LiveFleet, APersonsSettingActsAtOnceAndIsTakenBack) {
  const Cell cell(3);
  LiveFleet fleet(Settings(Policy::kEnsemble, Mode::kAuto));
  AddJobs(fleet, 3);
  PassOutput out;
  for (int w = 0; w < 600; ++w) Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
  const JobId id = *fleet.Find("job-2");
  ASSERT_TRUE(fleet.job(id).of(Resource::kMemory).gate.in_force.has_value());
  out.Clear();
  absl::StatusOr<SettingChange> change = fleet.Set(id, "mode", "observe", "anna", 180'000, out);
  ASSERT_TRUE(change.ok()) << change.status();
  EXPECT_EQ(change->before, "auto");
  ASSERT_EQ(out.decisions.size(), 2U);
  EXPECT_EQ(out.decisions[0].kind, DecisionKind::kRelease);
  EXPECT_FALSE(fleet.job(id).of(Resource::kMemory).gate.in_force.has_value());
  EXPECT_EQ(fleet.job(id).policy->mode, Mode::kObserve);
  ASSERT_TRUE(fleet.Set(id, "mode", "", "anna", 180'000, out).ok());
  EXPECT_EQ(fleet.job(id).policy->mode, Mode::kAuto);
  EXPECT_FALSE(fleet.Set(id, "mod", "auto", "anna", 180'000, out).ok());
  EXPECT_FALSE(fleet.Set(id, "mode", "full", "anna", 180'000, out).ok());
}

// A new recommender that has lived through the stored days stands where one stands that was there all along.
TEST(LiveFleet, AnotherRecommenderLivesThroughHistory) {
  const Cell cell(2);
  CellDays days(cell, 2);
  LiveFleet fleet(Settings(Policy::kPeak, Mode::kObserve));
  LiveFleet all_along(Settings(Policy::kEnsemble, Mode::kObserve));
  AddJobs(fleet, 2);
  AddJobs(all_along, 2);
  PassOutput out;
  const int windows = 3 * kWindowsPerDay;
  for (int w = 0; w < windows; ++w) {
    Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
    Step(all_along, cell.windows()[static_cast<size_t>(w)], out);
  }
  ASSERT_TRUE(fleet.Set(JobId{0}, "recommender", "ensemble", "anna", 0, out).ok());
  ASSERT_THAT(fleet.WantHistory(10), testing::ElementsAre(JobId{0}));
  std::vector<JobDay> history;
  for (int32_t d = 0; d < 3; ++d) history.push_back((*days.LoadDay(d))[0]);
  fleet.Retrain(JobId{0}, history);
  EXPECT_TRUE(fleet.WantHistory(10).empty());
  for (const Resource r : kResources) {
    EXPECT_EQ(fleet.job(JobId{0}).of(r).lane.recommended(), all_along.job(JobId{0}).of(r).lane.recommended());
  }
}

TEST(LiveFleet, DamagedCheckpointsNeverCrash) {
  const Cell cell(4);
  const LiveSettings settings = Settings(Policy::kAnalogs, Mode::kAuto);
  LiveFleet fleet(settings);
  AddJobs(fleet, 4);
  PassOutput out;
  for (int w = 0; w < 2000; ++w) Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
  const std::string good = Chunk(fleet);
  Rng rng(5);
  for (int i = 0; i < 200; ++i) {
    std::string bad = good;
    for (int n = 0; n < 3; ++n) bad[rng.Below(bad.size())] = static_cast<char>(rng.Next());
    if (rng.Below(4) == 0) bad.resize(rng.Below(bad.size()));
    LiveFleet other(settings);
    AddJobs(other, 4);
    ByteReader in(bad);
    (void)other.LoadChunk(0, in);
    PassOutput ignored;
    Step(other, cell.windows()[2000], ignored);
  }
}

}  // namespace
}  // namespace taut
