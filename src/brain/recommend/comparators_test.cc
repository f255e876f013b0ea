// Tests of the simple comparators: static, and the exact peak of the last days.
#include "brain/recommend/comparators.h"

#include <algorithm>
#include <vector>

#include "brain/recommend/made_signal.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

TEST(Static, NeverRecommends) {
  const auto r = NewStaticRecommender();
  for (int32_t w = 0; w < 3 * kWindowsPerDay; ++w) {
    r->Observe(MadeSignal(Resource::kCpu, w, 1.0, 2.0));
    ASSERT_FALSE(r->Recommend(WindowId{w + 1}).has_value());
  }
  r->ObserveOom({WindowId{1}, 0, 1});
  EXPECT_FALSE(r->Recommend(WindowId{9999}).has_value());
}

RC_GTEST_PROP(Peak, IsTheExactMaximumOfItsDays, ()) {
  PeakSettings s;
  s.days = *rc::gen::element(0.02, 0.1, 1.0);
  s.min_history_s = 0;
  const auto windows = static_cast<int32_t>(s.days * kWindowsPerDay);
  const auto r = NewPeakRecommender(Resource::kMemory, s, OomSettings());
  std::vector<std::pair<int32_t, float>> seen;
  int32_t w = 0;
  const int n = *rc::gen::inRange(1, 100);
  for (int i = 0; i < n; ++i) {
    w += *rc::gen::inRange(1, 8);
    const auto peak = static_cast<float>(*rc::gen::inRange(1, 1 << 30));
    if (*rc::gen::inRange(0, 8) == 0) {
      const double limit = *rc::gen::inRange(1, 1 << 30);
      r->ObserveOom({WindowId{w}, 0, limit});
      // The peak after a kill is the value of OomBump (docs/references.md, C6).
      if (!seen.empty()) seen.emplace_back(w, static_cast<float>(std::max(1.2 * limit, limit + 100 * kMiB)));
      if (seen.empty()) return;  // another test covers the OOM kill of a job that was never measured
    } else {
      r->Observe(MadeSignal(Resource::kMemory, w, peak));
      seen.emplace_back(w, peak);
    }
    float expected = -1;
    for (const auto& [at, value] : seen)
      expected = at >= w + 1 - windows ? std::max(expected, value) : expected;
    const std::optional<double> limit = r->Recommend(WindowId{w + 1});
    RC_ASSERT(limit.has_value());
    RC_ASSERT(*limit == expected * 1.15);
  }
}

TEST(Peak, LetsGoWhenItsDaysArePast) {
  PeakSettings s;
  s.days = 7;
  const auto r = NewPeakRecommender(Resource::kCpu, s, OomSettings());
  r->Observe(MadeSignal(Resource::kCpu, 0, 8.0));
  for (int32_t w = 1; w < 8 * kWindowsPerDay; ++w) {
    r->Observe(MadeSignal(Resource::kCpu, w, 2.0));
    const std::optional<double> limit = r->Recommend(WindowId{w + 1});
    if (w + 1 < kWindowsPerDay) {
      ASSERT_FALSE(limit.has_value()) << w;
    } else {
      ASSERT_EQ(*limit, (w < 7 * kWindowsPerDay ? 8 : 2) * 1.15) << w;
    }
  }
}

TEST(Peak, ExplainsItsTwoSteps) {
  PeakSettings s;
  s.min_history_s = 0;
  const auto r = NewPeakRecommender(Resource::kCpu, s, OomSettings());
  r->Observe(MadeSignal(Resource::kCpu, 0, 8.0));
  const std::optional<double> limit = r->Recommend(WindowId{1});
  Reason reason;
  r->Explain(reason);
  ASSERT_EQ(reason.steps.size(), 2U);
  EXPECT_EQ(reason.steps[1].after, *limit);
}

}  // namespace
}  // namespace taut::brain
