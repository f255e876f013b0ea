// Tests of recommenders of jobs whose number of tasks follows their load.
#include "brain/recommend/task_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "brain/recommend/comparators.h"
#include "brain/recommend/made_signal.h"
#include "brain/recommend/report_tools.h"
#include "common/base/byte_units.h"

namespace taut::brain {
namespace {

using testing::HasSubstr;

std::unique_ptr<Recommender> Peak(Resource r) {
  return NewPeakRecommender(r, VerticalSettings().peak, VerticalSettings().oom);
}

// Returns the memory of one task if `tasks` tasks share a load of `load` cores: 1 GiB plus half a GiB per core.
double MemoryOf(double load, int tasks) { return (1 + 0.5 * load / tasks) * kGiB; }

void Feed(Recommender& r, int window, double load, int tasks) {
  const auto each = static_cast<float>(MemoryOf(load, tasks));
  std::vector<TaskUsage> usage(static_cast<size_t>(tasks), TaskUsage{0, each, each});
  MadeSignal made(Resource::kMemory, window, std::move(usage));
  Signal signal = made.get();
  signal.used_together[IndexOf(Resource::kCpu)] = load;
  r.Observe(signal);
}

// Returns a load between 4 and 8 cores; a task is sized for one core.
double LoadAt(int w) { return 6 + 2 * std::sin(w * 2 * M_PI / kWindowsPerDay); }

TEST(TaskLoad, AScaleOutIsNotAFallingNeed) {
  const auto plain = Peak(Resource::kMemory);
  const auto scaled = WithTaskLoad(Peak(Resource::kMemory), Resource::kMemory, false);
  const int end = 14 * kWindowsPerDay;
  for (int w = 0; w < 2 * end; ++w) {
    // After two weeks the number of tasks is multiplied by four, and each task has a quarter of the load.
    const int tasks = w < end ? 6 : 24;
    for (Recommender* r : {plain.get(), scaled.get()}) {
      Feed(*r, w, LoadAt(w), tasks);
      r->Recommend(WindowId{w + 1});
    }
  }
  scaled->TakeTaskSize({.limit = {}, .load = 8.0 / 6});
  const double need = MemoryOf(8, 6);  // need of a busy task before the scale-out
  EXPECT_GE(*scaled->Recommend(WindowId{2 * end + 1}), need);
  EXPECT_LT(*plain->Recommend(WindowId{2 * end + 1}), 0.9 * need);
  Reason reason;
  scaled->Explain(reason);
  EXPECT_EQ(reason.steps.back().kind, "task_load");
}

TEST(TaskLoad, ALargerTaskNeedsMoreBeforeItIsOne) {
  const auto r = WithTaskLoad(Peak(Resource::kMemory), Resource::kMemory, false);
  const int end = 10 * kWindowsPerDay;
  for (int w = 0; w < end; ++w) {
    Feed(*r, w, LoadAt(w), 6);
    r->Recommend(WindowId{w + 1});
  }
  r->TakeTaskSize({.limit = 2, .load = 8.0 / 6});
  const double before = *r->Recommend(WindowId{end + 1});
  r->TakeTaskSize({.limit = 4, .load = 2.8});
  const double after = *r->Recommend(WindowId{end + 2});
  EXPECT_NEAR(after / before, MemoryOf(2.8, 1) / MemoryOf(8.0 / 6, 1), 0.05);
}

TEST(TaskLoad, UsageThatTheLoadDoesNotExplainIsLeftAsItIs) {
  const auto plain = Peak(Resource::kMemory);
  const auto scaled = WithTaskLoad(Peak(Resource::kMemory), Resource::kMemory, false);
  for (int w = 0; w < 2000; ++w) {
    const double bytes = (2 + std::cos(w * 1.7)) * kGiB;
    MadeSignal made(Resource::kMemory, w, bytes);
    Signal signal = made.get();
    signal.used_together[IndexOf(Resource::kCpu)] = LoadAt(w);
    for (Recommender* r : {plain.get(), scaled.get()}) r->Observe(signal);
    EXPECT_EQ(plain->Recommend(WindowId{w + 1}), scaled->Recommend(WindowId{w + 1}));
  }
}

TEST(TaskLoad, GoesOnAsSaved) {
  const auto r = WithTaskLoad(Peak(Resource::kMemory), Resource::kMemory, false);
  for (int w = 0; w < 1500; ++w) {
    Feed(*r, w, LoadAt(w), 6);
    r->Recommend(WindowId{w + 1});
  }
  std::string bytes;
  ByteWriter out(&bytes);
  r->Save(out);
  const auto loaded = WithTaskLoad(Peak(Resource::kMemory), Resource::kMemory, false);
  ByteReader in(bytes);
  ASSERT_TRUE(loaded->Load(in).ok());
  EXPECT_EQ(in.remaining(), 0U);
  const auto clone = r->Clone();
  for (int w = 1500; w < 1600; ++w) {
    for (Recommender* each : {r.get(), loaded.get(), clone.get()}) Feed(*each, w, LoadAt(w), 9);
    const std::optional<double> limit = r->Recommend(WindowId{w + 1});
    EXPECT_EQ(loaded->Recommend(WindowId{w + 1}), limit);
    EXPECT_EQ(clone->Recommend(WindowId{w + 1}), limit);
  }
  for (size_t size = 0; size < bytes.size(); size += 11) {
    ByteReader cut(std::string_view(bytes).substr(0, size));
    EXPECT_FALSE(WithTaskLoad(Peak(Resource::kMemory), Resource::kMemory, false)->Load(cut).ok());
  }
}

TEST(TaskSize, IsRecommendedWhateverTheUsage) {
  const auto r = WithTaskSize(Peak(Resource::kCpu));
  r->Observe(MadeSignal(Resource::kCpu, 0, 0.3, 4.0));
  EXPECT_EQ(r->Recommend(WindowId{1}), std::nullopt) << "the owner's stays";
  r->TakeTaskSize({.limit = 2, .load = 1.4});
  r->Observe(MadeSignal(Resource::kCpu, 1, 0.3, 4.0));
  EXPECT_EQ(r->Recommend(WindowId{2}), 2.0);
  Reason reason;
  r->Explain(reason);
  EXPECT_THAT(reason.sentence, HasSubstr("size of a task"));
  EXPECT_EQ(reason.limit, 2.0);
  std::string bytes;
  ByteWriter out(&bytes);
  r->Save(out);
  const auto loaded = WithTaskSize(Peak(Resource::kCpu));
  ByteReader in(bytes);
  ASSERT_TRUE(loaded->Load(in).ok());
  EXPECT_EQ(loaded->Recommend(WindowId{3}), 2.0);
  EXPECT_EQ(loaded->Clone()->Recommend(WindowId{3}), 2.0);
}

}  // namespace
}  // namespace taut::brain
