// Tests of jobs that disappear and return: the data that are kept, their retention time, and the data that are
// restored when a job returns.
#include "common/testing/test_scale.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/control/control_fixture.h"
#include "server/control/set_one_fixture.h"

namespace taut::server {
namespace {

// A cell whose tasks are reported as agents report them, one window at a time.
class ChurnCell {
 public:
  explicit ChurnCell(size_t max_jobs = 1'000'000) : max_jobs_(max_jobs) { Start(); }

  void Start() {
    ControlOptions options;
    options.ingest.ingest.max_jobs = max_jobs_;
    brain::JobPolicy defaults;
    defaults.mode = Mode::kAuto;
    defaults.recommender = brain::Policy::kMovingWindow;
    options.live.vertical.moving_window.min_history_s = 600;
    options.live.rules = *brain::PolicyRules::Compile({}, defaults);
    options.jobs.forget_jobs_days = 7;
    control_.reset();
    store_.checkpoint_bytes = 0;
    control_ =
        std::make_unique<ControlPlane>(options, *MappingRules::Compile(BuiltinRules()),
                                       ControlPlane::Parts{&store_, &inner_, &actuator_, [] { return 0.0; }});
    ASSERT_TRUE(control_->Restore().ok());
  }
  // Reports this usage of the job's task in the window that begins now.
  void Use(const std::string& job, double bytes = 1e8) {
    ReportedWindow w;
    w.window = window();
    w.figures = {.task = 0,
                 .cpu_mean_cores = 0.1F,
                 .cpu_peak_cores = 0.1F,
                 .memory_mean_bytes = static_cast<float>(bytes),
                 .memory_peak_bytes = static_cast<float>(bytes)};
    w.cpu_buckets = {{Grid::Cpu().BucketOf(0.1), 300}};
    w.memory_limit_bytes = 1e9;
    w.cpu_limit_cores = 2;
    ASSERT_TRUE(control_->agents().TakeWindow({job, "0", {}}, w, Now()).ok());
  }
  void NextWindow() {
    ++windows_;
    ASSERT_TRUE(control_->Tick(Timestamp::FromSeconds(window().start_s() + 150)).ok());
  }
  void Days(double days, const std::function<void(int)>& each = {}) {
    for (int i = 0; i < static_cast<int>(days * kWindowsPerDay); ++i) {
      if (each) each(i);
      NextWindow();
    }
  }
  WindowId window() const {
    return WindowId::Of(Timestamp::FromSeconds(ControlCell::kStart + 300 * windows_));
  }
  Timestamp Now() const { return Timestamp::FromSeconds(window().start_s() + 299); }
  ControlPlane& control() { return *control_; }
  uint64_t checkpoint_bytes() const { return store_.checkpoint_bytes; }
  History& history() { return inner_; }
  std::vector<std::string> Known() {
    std::vector<std::string> names;
    for (const auto view = control_->view(); const JobView& job : view->jobs)
      names.push_back(job.record->name);
    return names;
  }

 private:
  struct CountingStore final : public ForwardingStore {
    using ForwardingStore::ForwardingStore;
    absl::Status Commit(const PassRecord& pass) override {
      for (const Checkpoint& c : pass.checkpoints) {
        if (c.chunk != kFleetChunk) checkpoint_bytes += c.bytes.size();
      }
      return ForwardingStore::Commit(pass);
    }
    uint64_t checkpoint_bytes = 0;
  };
  const size_t max_jobs_;
  InMemoryStore inner_;
  CountingStore store_{inner_};
  DryRunActuator actuator_;
  int64_t windows_ = 0;
  std::unique_ptr<ControlPlane> control_;
};

// Returns the memory of jobs, series and open windows.
size_t StateBytes(const ControlPlane& control) {
  size_t fleet_bytes = 0;
  control.WithFleet([&](const brain::LiveFleet& fleet) { fleet_bytes = fleet.checkpoint.state_bytes(); });
  return control.view()->jobs.capacity() * sizeof(JobView) + control.ingest().counts.state_bytes() +
         fleet_bytes;
}

// Bare pods, each with a unique name, that disappear after ten minutes. TAUT_TEST_SCALE=500 simulates a month with
// 100,000 pods a day.
TEST(Forgetting, MemoryIsThatOfADaysJobsHoweverManyCame) {
  ChurnCell cell;
  const int pods_a_day = std::max(200, Scaled(200)), days = TestScale() > 1 ? 30 : 5;
  size_t early = 0, most = 0;
  for (int day = 0; day < days; ++day) {
    cell.Days(1, [&](int i) {
      cell.Use("shop/web");
      const int first = pods_a_day * i / kWindowsPerDay, next = pods_a_day * (i + 1) / kWindowsPerDay;
      for (int pod = first; pod < next; ++pod) {
        cell.Use("batch/pod-" + std::to_string(day * pods_a_day + pod), 1e7 * (1 + pod % 9));
      }
    });
    most = std::max(most, StateBytes(cell.control()));
    if (day == 2) early = most;
  }
  EXPECT_LT(static_cast<double>(most), 1.25 * static_cast<double>(early) + 32.0 * pods_a_day * days);
  EXPECT_LT(cell.control().view()->jobs.size(), static_cast<size_t>(pods_a_day) * 21 / 10 + 2);
  // 100,000 pods a day for a month need at most 1 GiB, even if blocks of the allocator are half used.
  const double a_pod = static_cast<double>(most) / pods_a_day;
  EXPECT_LT(100'000 * a_pod, 512.0 * static_cast<double>(kMiB)) << a_pod << " bytes for each pod of a day";
  EXPECT_EQ(cell.Known().front(), "shop/web");
  EXPECT_GE(cell.control().status().counts().forgotten_jobs, static_cast<uint64_t>(pods_a_day) * (days - 3));
}

TEST(Forgetting, AJobThatReturnsIsTheSameWithItsHistoryAndSettings) {
  ChurnCell cell;
  cell.Days(0.1, [&](int) {
    cell.Use("shop/web");
    cell.Use("batch/nightly", 3e8);
  });
  const JobId id = *cell.control().Find("batch/nightly");
  ASSERT_TRUE(SetOne(cell.control(), id, "mode", "observe", "anna").ok());
  cell.Days(1.5, [&](int) { cell.Use("shop/web"); });
  EXPECT_THAT(cell.Known(), testing::ElementsAre("shop/web"));
  EXPECT_FALSE(cell.control().Find("batch/nightly").has_value());
  EXPECT_FALSE(cell.control().Look(id, [](const brain::LiveJob&) {}));
  EXPECT_EQ(SetOne(cell.control(), id, "mode", "auto", "anna").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(cell.history().Job(id)->name, "batch/nightly") << "its decisions keep its name";
  for (const bool restarted : {false, true}) {
    if (restarted) {
      cell.Days(2.2, [&](int) { cell.Use("shop/web"); });
      cell.Start();
    }
    EXPECT_THAT(cell.Known(), testing::ElementsAre("shop/web"));
    cell.Use("batch/nightly", 3e8);
    cell.Days(0.02);
    ASSERT_EQ(cell.control().Find("batch/nightly"), id) << restarted;
    cell.control().Look(id, [&](const brain::LiveJob& job) {
      EXPECT_EQ(job.policy->mode, Mode::kObserve) << "what people set holds";
      EXPECT_FALSE(job.needs_history());
      EXPECT_TRUE(job.of(Resource::kMemory).lane.recommended().has_value()) << "learnt from the store";
    });
  }
}

TEST(Forgetting, ANewJobNeverGetsTheNumberOfAnother) {
  ChurnCell cell;
  cell.Use("batch/a");
  cell.Days(1.2, [&](int) { cell.Use("shop/web"); });
  ASSERT_THAT(cell.Known(), testing::ElementsAre("shop/web"));
  cell.Start();
  cell.Use("batch/b");
  cell.Days(0.02, [&](int) { cell.Use("shop/web"); });
  const JobId b = *cell.control().Find("batch/b");
  EXPECT_EQ(b.value, 2U);
}

// A restart in the middle does not change the result.
TEST(Forgetting, ARestartIsExact) {
  std::vector<std::string> limits[2];
  for (const bool restart : {false, true}) {
    ChurnCell cell;
    cell.Days(2.6, [&](int i) {
      if (restart && i % 61 == 60) cell.Start();
      cell.Use("shop/web", 2e8 + 1e6 * (i % 50));
      if (i % 40 < 3) cell.Use("batch/pod-" + std::to_string(i / 40), 1e7 * (1 + i % 7));
    });
    for (const auto view = cell.control().view(); const JobView& job : view->jobs) {
      limits[restart ? 1 : 0].push_back(job.record->name + " " +
                                        std::to_string(job.of(Resource::kMemory).would_be) + " " +
                                        std::to_string(job.of(Resource::kMemory).limit));
    }
  }
  EXPECT_EQ(limits[0], limits[1]);
  EXPECT_GT(limits[0].size(), 4U);
}

TEST(Forgetting, OnlyWhatChangedIsWrittenAgain) {
  ChurnCell cell;
  for (int i = 0; i < 1200; ++i) cell.Use("batch/pod-" + std::to_string(i));
  cell.NextWindow();
  cell.Days(0.1, [&](int) { cell.Use("shop/web"); });
  const uint64_t before = cell.checkpoint_bytes();
  cell.Days(0.5, [&](int) { cell.Use("shop/web"); });
  const uint64_t alone = cell.checkpoint_bytes() - before;
  // The job that stays shares a chunk with up to 511 other jobs. The chunk is written once every half hour.
  EXPECT_LT(alone, 30 * 512 * 2048U);
  const uint64_t now = cell.checkpoint_bytes();
  cell.Days(0.2);
  EXPECT_LE(cell.checkpoint_bytes(), now + 512 * 2048U) << "nothing runs, nothing is written";
}

TEST(Forgetting, TheLimitOfJobsCountsThoseThatAreKnown) {
  ChurnCell cell(3);
  for (const char* job : {"shop/web", "batch/a", "batch/b", "batch/c"}) cell.Use(job);
  cell.NextWindow();
  EXPECT_EQ(cell.Known().size(), 3U);
  EXPECT_EQ(cell.control().ingest().counts.mapper().refused_jobs, 1U);
  cell.Days(1.2, [&](int) { cell.Use("shop/web"); });
  EXPECT_THAT(cell.Known(), testing::ElementsAre("shop/web"));
  cell.Use("batch/c");
  cell.NextWindow();
  cell.NextWindow();
  EXPECT_THAT(cell.Known(), testing::ElementsAre("shop/web", "batch/c"));
}

// Samples that are too late, too early or not a number create no job.
TEST(Forgetting, DroppedSamplesMakeNoJob) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 20).ok());
  const Timestamp now = Timestamp::FromSeconds(ControlCell::kStart + 60 * 20);
  const LabelView labels[] = {{"__name__", "container_memory_working_set_bytes"},
                              {"container", "app"},
                              {"namespace", "other"},
                              {"pod", "late-0"}};
  const RemoteSample dropped[] = {
      {1e9, (ControlCell::kStart - 3600) * 1000}, {-1, now.us / 1000}, {1e9, now.us / 1000 + 3'600'000}};
  const IngestCounts before = cell.control().ingest().counts.samples();
  cell.control().ingest().samples.Take(labels, dropped, now);
  ReportedWindow late;
  late.window = WindowId::Of(Timestamp::FromSeconds(ControlCell::kStart - 3600));
  late.figures.memory_mean_bytes = late.figures.memory_peak_bytes = 1e9F;
  EXPECT_TRUE(cell.control().agents().TakeWindow({"other/agent", "0", {}}, late, now).ok());
  const IngestCounts after = cell.control().ingest().counts.samples();
  EXPECT_EQ(after.too_late, before.too_late + 2);
  EXPECT_EQ(after.invalid, before.invalid + 1);
  EXPECT_EQ(after.far_future, before.far_future + 1);
  EXPECT_EQ(cell.control().ingest().counts.mapper().jobs, 4U);
  // A series that matches no rule is unmapped, also if its samples are invalid.
  const LabelView other[] = {{"__name__", "node_network_speed_bytes"}, {"device", "eth0"}};
  const RemoteSample negative[] = {{-125'000, now.us / 1000}};
  cell.control().ingest().samples.Take(other, negative, now);
  EXPECT_EQ(cell.control().ingest().counts.samples().invalid, after.invalid);
  EXPECT_EQ(cell.control().ingest().counts.samples().unmapped, after.unmapped + 1);
}

}  // namespace
}  // namespace taut::server
