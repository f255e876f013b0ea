// Tests of a gate's saved states: every version can be loaded, and impossible states are rejected.
#include <cmath>
#include <limits>

#include "brain/rollout/gate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::string Saved(const GateState& state) {
  std::string bytes;
  ByteWriter out(&bytes);
  state.Save(out);
  return bytes;
}
bool Loads(const std::string& bytes, GateState* state = nullptr) {
  GateState own;
  ByteReader in(bytes);
  return (state != nullptr ? state : &own)->Load(in).ok() && in.remaining() == 0;
}

// Returns a state in which every field is set.
GateState Full() {
  GateState state;
  state.in_force = 5;
  state.shown = 4;
  state.last_change_s = 100;
  state.last_shown_s = 200;
  state.rolled_back_limit = 3;
  state.rolled_back_s = 50;
  state.floor = 1.5;
  Trial& trial = state.trial.emplace();
  trial.limit = 2;
  trial.old_limit = 5;
  trial.since_s = 300;
  trial.tasks = {.task_windows = 9, .ooms = 1, .over = 9, .usage_sum = 7, .limit_sum = 18};
  trial.rest = {.task_windows = 8, .ooms = 2, .over = 3, .usage_sum = 6, .limit_sum = 40};
  trial.tasks.periods = trial.tasks.throttled = 12;
  trial.rest.periods = 13;
  trial.watched = true;
  trial.decision = 77;
  trial.members = {{4, "web-4"}, {TrialTask::kGone, "web-9"}};
  trial.elsewhere = 6;
  trial.delivered = true;
  trial.delivered_s = 600;
  trial.refused = true;
  trial.refusal = "why";
  return state;
}

TEST(GateState, ComesBackWhole) {
  const GateState full = Full();
  GateState loaded;
  ASSERT_TRUE(Loads(Saved(full), &loaded));
  EXPECT_EQ(Saved(loaded), Saved(full));
  EXPECT_EQ(loaded.in_force, 5);
  EXPECT_EQ(loaded.shown, 4);
  EXPECT_EQ(loaded.last_change_s, 100);
  EXPECT_EQ(loaded.last_shown_s, 200);
  EXPECT_EQ(loaded.rolled_back_limit, 3);
  EXPECT_EQ(loaded.rolled_back_s, 50);
  EXPECT_EQ(loaded.floor, 1.5);
  ASSERT_TRUE(loaded.trial.has_value());
  EXPECT_EQ(loaded.trial->old_limit, 5);
  EXPECT_EQ(loaded.trial->rest.ooms, 2U);
  EXPECT_EQ(loaded.trial->rest.limit_sum, 40);
  EXPECT_EQ(loaded.trial->elsewhere, 6U);
  EXPECT_TRUE(loaded.trial->watched && loaded.trial->delivered && loaded.trial->refused);
  EXPECT_FALSE(loaded.trial->failed);
  GateState failed = Full();
  failed.trial->failed = true;
  ASSERT_TRUE(Loads(Saved(failed), &loaded));
  EXPECT_TRUE(loaded.trial->failed && loaded.trial->refused);
}

TEST(GateState, ALimitMayBeZero) {
  GateState state = Full();
  state.in_force = state.shown = 0;
  state.trial->limit = 0;
  state.trial->old_limit = 0;
  state.rolled_back_limit = 0;
  state.trial->tasks = state.trial->rest = {};
  EXPECT_TRUE(Loads(Saved(state)));
}

// Version 2 lacks the last field, the time of delivery.
TEST(GateState, TheVersionBeforeIsRead) {
  std::string bytes = Saved(Full());
  bytes[0] = 2;
  bytes.resize(bytes.size() - sizeof(int64_t));
  GateState loaded;
  ASSERT_TRUE(Loads(bytes, &loaded));
  EXPECT_EQ(loaded.floor, 1.5);
  EXPECT_EQ(loaded.trial->rest.periods, 13U);
  EXPECT_EQ(loaded.trial->members.size(), 2U);
  EXPECT_EQ(loaded.trial->delivered_s, INT64_MIN);
}

TEST(GateState, AnUnknownVersionIsRefused) {
  std::string bytes = Saved(GateState());
  ASSERT_TRUE(Loads(bytes));
  for (const char version : {0, 4}) {
    bytes[0] = version;
    EXPECT_FALSE(Loads(bytes)) << int{version};
  }
}

TEST(GateState, WhatIsNoAmountIsRefused) {
  for (const double wrong : {-5.0, kNan, kInf}) {
    const auto refused = [wrong](auto set) {
      GateState state = Full();
      set(state, wrong);
      return !Loads(Saved(state));
    };
    EXPECT_TRUE(refused([](GateState& s, double v) { s.in_force = v; })) << wrong;
    EXPECT_TRUE(refused([](GateState& s, double v) { s.shown = v; })) << wrong;
    EXPECT_TRUE(refused([](GateState& s, double v) { s.rolled_back_limit = v; })) << wrong;
    EXPECT_TRUE(refused([](GateState& s, double v) { s.floor = v; })) << wrong;
    EXPECT_TRUE(refused([](GateState& s, double v) { s.trial->limit = v; })) << wrong;
    EXPECT_TRUE(refused([](GateState& s, double v) { s.trial->old_limit = v; })) << wrong;
    if (wrong == -5) continue;
    EXPECT_TRUE(refused([](GateState& s, double v) { s.trial->tasks.usage_sum = v; })) << wrong;
    EXPECT_TRUE(refused([](GateState& s, double v) { s.trial->rest.limit_sum = v; })) << wrong;
  }
}

TEST(GateState, CountsThatCannotBeAreRefused) {
  GateState over = Full();
  over.trial->rest.over = 9;  // this count exceeds the 8 task-windows of this side
  EXPECT_FALSE(Loads(Saved(over)));
  GateState throttled = Full();
  throttled.trial->tasks.throttled = 13;  // this count exceeds the 12 periods of this side
  EXPECT_FALSE(Loads(Saved(throttled)));
}

// `at` returns the offset of a flag in the state: the first byte that differs between two saved states.
TEST(GateState, AFlagThatIsNoneIsRefused) {
  const auto at = [](auto set) {
    GateState a = Full(), b = Full();
    a.trial->watched = a.trial->delivered = a.trial->refused = false;
    b.trial->watched = b.trial->delivered = b.trial->refused = false;
    set(b);
    const std::string one = Saved(a), other = Saved(b);
    return static_cast<size_t>(std::mismatch(one.begin(), one.end(), other.begin()).first - one.begin());
  };
  std::string bytes = Saved(Full());
  ASSERT_TRUE(Loads(bytes));
  for (const size_t place : {at([](GateState& s) { s.trial->watched = true; }),
                             at([](GateState& s) { s.trial->delivered = true; }),
                             at([](GateState& s) { s.trial->refused = true; })}) {
    std::string odd = bytes;
    odd[place] = 3;
    ByteReader in(odd);
    EXPECT_FALSE(GateState().Load(in).ok()) << place;
  }
  std::string trials = Saved(GateState());
  trials.back() = 2;  // flag of a present trial, which must be 0 or 1
  EXPECT_FALSE(Loads(trials));
}

TEST(GateState, RedoOfATrialAndItsEndBringsBackWhoseItWas) {
  GateState state;
  Decision tried;
  tried.id = 77;
  tried.kind = DecisionKind::kTry;
  tried.time_s = 1000;
  tried.before = 4;
  tried.after = 2;
  Redo(tried, state);
  ASSERT_TRUE(state.trial.has_value());
  EXPECT_EQ(state.trial->decision, 77U) << "outcomes of the order are still its";
  Decision back = tried;
  back.kind = DecisionKind::kRollBack;
  back.time_s = 2000;
  Redo(back, state);
  EXPECT_EQ(state.rolled_back_limit, 2);
  EXPECT_EQ(state.rolled_back_s, 2000);
}

}  // namespace
}  // namespace taut::brain
