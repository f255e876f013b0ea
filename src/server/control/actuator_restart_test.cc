// Tests a kill of the daemon at any point between an order, the order's outcome and the next window. After
// the restart, the actuator has the values that the fleet has in force.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "common/base/strings.h"
#include "common/testing/test_scale.h"
#include "server/control/control_fixture.h"
#include "server/control/set_one_fixture.h"

namespace taut::server {
namespace {

using ::testing::IsEmpty;

// Stores the latest order of each job and target, like the actuators of a cluster, and carries it out on
// request.
class HoldingActuator final : public Actuator {
 public:
  std::string_view name() const override { return "holding"; }
  bool Claims(const TargetOrder& /*order*/) const override { return true; }
  void Apply(std::span<const TargetOrder> orders, int64_t /*now_s*/) override {
    for (const TargetOrder& order : orders) {
      held_.insert_or_assign(std::pair(order.job, order.target), order.value);
      if (!IsFinal(order.known)) ++pending_[order.decision];
    }
  }
  std::vector<OutcomeUpdate> TakeOutcomes() override {
    std::vector<OutcomeUpdate> out;
    if (!carries_out) return out;
    for (const auto& [decision, times] : std::exchange(pending_, {}))
      out.push_back({decision, Outcome::kApplied, "", time_s});
    return out;
  }
  std::string SaveState() const override {
    std::string state;
    ByteWriter out(&state);
    out.Put<uint8_t>(1);
    for (const auto& [key, value] : held_) {
      out.PutString(key.first);
      out.Put<uint8_t>(key.second.code());
      out.Put<uint8_t>(value.has_value() ? 1 : 0);
      out.Put(value.value_or(0));
    }
    return state;
  }
  void LoadState(std::string_view state) override {
    ByteReader in(state);
    ASSERT_EQ(in.Get<uint8_t>(), 1) << "nothing but what SaveState gave";
    while (in.remaining() > 0) {
      const std::string job(in.GetString());
      const std::optional<Target> target = Target::FromCode(in.Get<uint8_t>());
      const bool has = in.Get<uint8_t>() != 0;
      const auto value = in.Get<double>();
      ASSERT_TRUE(target.has_value());
      held_[{job, *target}] = has ? std::optional(value) : std::nullopt;
    }
  }
  std::optional<double> Held(const std::string& job, Target target) const {
    const auto it = held_.find({job, target});
    return it == held_.end() ? std::nullopt : it->second;
  }
  bool carries_out = true;
  int64_t time_s = 0;  // time of the outcomes

 private:
  std::map<std::pair<std::string, Target>, std::optional<double>> held_;
  std::map<uint64_t, int> pending_;
};

class HoldingCell {
 public:
  explicit HoldingCell(bool carries_out) : carries_out_(carries_out) { Restart(); }

  // Ends the process as a kill does.
  void Restart() {
    auto next = std::make_unique<HoldingActuator>();
    next->carries_out = carries_out_;
    cell_.actuator = next.get();
    cell_.Restart();
    ASSERT_TRUE(cell_.restored().ok()) << cell_.restored();
    actuator_ = std::move(next);
  }
  // Simulates a minute in which containers are killed, and owners opt out and in again.
  void Live(int minute) {
    ASSERT_TRUE(cell_.Live(minute, minute + 1).ok());
    const Timestamp now = ControlCell::Minute(minute);
    if (minute == 66 || minute == 67 || minute == 82 || minute == 83) Kills(minute, now);
    if (minute == 72) Set("mode", "off");
    if (minute == 81) Set("mode", "auto");
    ASSERT_TRUE(cell_.control().Tick(Timestamp::FromSeconds(now.seconds() + 1)).ok());
  }
  // Returns the jobs for which the actuator's amount differs from the amount that the fleet has in force.
  std::vector<std::string> Wrong() {
    std::vector<std::string> out;
    for (const JobView& view : cell_.control().view()->jobs) {
      cell_.control().Look(view.record->id, [&](const brain::LiveJob& job) {
        for (const Resource r : kResources) {
          const std::optional<double> held = actuator_->Held(job.record->name, r);
          if (held != job.of(r).gate.in_force)
            out.push_back(StrCat(job.record->name, " ", Name(r), " held ", held.value_or(-1), ", in force ",
                                 job.of(r).gate.in_force.value_or(-1)));
        }
      });
    }
    return out;
  }
  ControlCell& cell() { return cell_; }
  HoldingActuator& actuator() { return *actuator_; }

 private:
  void Set(const char* key, const char* value) {
    const std::optional<JobId> id = cell_.control().view()->jobs.front().record->id;
    ASSERT_TRUE(SetOne(cell_.control(), *id, key, value, "owner").ok());
  }
  void Kills(int minute, Timestamp now) {
    for (const int job : {1, 2}) {
      const std::string name_space = StrCat("shop-", job % 2), pod = StrCat("web-", job, "-5d4f8c7b9d-xbbbz");
      const LabelView labels[] = {{"__name__", "container_oom_events_total"},
                                  {"container", "app"},
                                  {"namespace", name_space},
                                  {"pod", pod}};
      const RemoteSample sample{static_cast<double>(minute % 2), now.us / 1000};
      cell_.control().ingest().samples.Take(labels, {&sample, 1}, now);
    }
  }

  const bool carries_out_;
  std::unique_ptr<HoldingActuator> actuator_;
  ControlCell cell_{80};
};

TEST(ActuatorRestart, AKillAtAnyPointLeavesTheActuatorWithWhatIsInForce) {
  constexpr int kFirst = 62, kEnd = 96;
  const int step = TestScale() < 1 ? 3 : 1;
  for (const bool carries_out : {true, false}) {
    size_t decisions = 0;
    for (int kill = kFirst; kill < kEnd; kill += step) {
      HoldingCell c(carries_out);
      for (int minute = 0; minute <= kill; ++minute) c.Live(minute);
      ASSERT_THAT(c.Wrong(), IsEmpty()) << "before the kill";
      decisions = std::max(decisions, c.cell().told().size());
      c.Restart();
      EXPECT_THAT(c.Wrong(), IsEmpty()) << "killed after minute " << kill;
      c.Restart();
      EXPECT_THAT(c.Wrong(), IsEmpty()) << "and again";
    }
    EXPECT_GT(decisions, 10U) << "the test is of something";
  }
}

// With `clock: samples` and samples of the past, an outcome dated by the wall clock would be years later than
// every kill.
TEST(ActuatorRestart, AnOutcomeIsNotLaterThanTheClockOfWindows) {
  HoldingCell c(true);
  c.actuator().time_s = ControlCell::Minute(0).seconds() + 3 * 365 * kDaySeconds;
  for (int minute = 0; minute < 75; ++minute) c.Live(minute);
  DecisionQuery applied;
  applied.outcome = Outcome::kApplied;
  const absl::StatusOr<std::vector<Decision>> decisions =
      c.cell().control().history().Decisions(applied, History::Reasons::kInclude);
  ASSERT_TRUE(decisions.ok()) << decisions.status();
  EXPECT_FALSE(decisions->empty());
  for (const Decision& d : *decisions) EXPECT_LE(d.outcome_time_s, ControlCell::Minute(76).seconds());
}

// A checkpoint with only the actuator's state, in the format of earlier versions. The state may be older than all
// stored decisions.
TEST(ActuatorRestart, AStateOfAnOlderVersionGetsAllThatIsStored) {
  HoldingCell c(true);
  for (int minute = 0; minute < 75; ++minute) c.Live(minute);
  ASSERT_THAT(c.Wrong(), IsEmpty());
  PassRecord record;
  const Checkpoint older{kActuatorChunk, *c.cell().control().status().stored_through(), std::string(1, '\1')};
  record.checkpoints = {&older, 1};
  ASSERT_TRUE(c.cell().store().Commit(record).ok());
  c.Restart();
  EXPECT_THAT(c.Wrong(), IsEmpty());
}

}  // namespace
}  // namespace taut::server
