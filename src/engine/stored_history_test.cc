// Stored days stepped again: what a lane sees of them.
#include "engine/stored_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "vertical/comparators.h"

namespace taut {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

Decision Of(int window, DecisionKind kind, std::optional<double> after, Outcome outcome = Outcome::kApplied,
            Resource r = Resource::kCpu) {
  Decision d;
  d.target = r;
  d.kind = kind;
  d.time_s = WindowId{window}.start_s();
  d.after = after;
  d.outcome = outcome;
  return d;
}

TEST(StoredHistory, UsageIsCutAtTheLimitThatWasAppliedThen) {
  JobDay day;
  for (int w = 0; w < 7; ++w) {
    JobWindow window;
    window.window = WindowId{w};
    window.first_task = static_cast<uint32_t>(w);
    window.num_tasks = 1;
    day.tasks.push_back({0, 0.5F, 0.5F, kAbsent, kAbsent});
    day.windows.push_back(window);
  }
  const std::vector<Decision> decisions = {
      Of(1, DecisionKind::kWouldSet, 0.2, Outcome::kDryRun),
      Of(1, DecisionKind::kSet, 2),
      Of(2, DecisionKind::kSet, 9, Outcome::kFailed),
      Of(2, DecisionKind::kSet, 1e9, Outcome::kApplied, Resource::kMemory),
      Of(2, DecisionKind::kTry, 0.6),
      Of(3, DecisionKind::kPromote, 0.6),
      Of(5, DecisionKind::kRelease, std::nullopt),
      Of(6, DecisionKind::kSet, 3, Outcome::kDryRun),
  };
  const std::vector<JobDay> days = {day};
  Lane lane(NewStaticRecommender());
  DaySignals signals;
  std::vector<std::optional<double>> cut;
  const auto nothing = [](const Signal&, std::span<const OomRecord>) {};
  const auto note = [&](const Signal& s, std::span<const OomRecord>) { cut.push_back(s.cut_at); };
  StepHistory({.resource = Resource::kCpu, .days = days, .ooms = {}, .decisions = decisions}, signals, lane,
              {.begins = nothing, .closes = note});
  EXPECT_THAT(cut, ElementsAre(Eq(std::nullopt), Optional(2.0), Optional(2.0), Optional(0.6), Optional(0.6),
                               Eq(std::nullopt), Eq(std::nullopt)));
}

}  // namespace
}  // namespace taut
