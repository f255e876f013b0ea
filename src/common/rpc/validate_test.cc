#include "common/rpc/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "common/base/strings.h"

namespace taut {
namespace {

namespace v1 = taut::agent::v1;
using testing::HasSubstr;

v1::FromAgent GoodHello() {
  v1::FromAgent out;
  out.set_now_us(1);
  out.mutable_hello()->set_agent("machine-7");
  out.mutable_hello()->set_cores(8);
  out.mutable_hello()->set_speed(1);
  return out;
}
v1::FromAgent GoodTasks() {
  v1::FromAgent out;
  v1::Task* task = out.mutable_tasks()->add_started();
  task->mutable_name()->set_job("shop/web");
  task->mutable_name()->set_task("k\xC3\xB6ln-0");
  (*task->mutable_labels())["team"] = "";
  task->set_cpu_cores(0.5);
  task->set_container_id(std::string(64, '7'));
  *out.mutable_tasks()->add_gone() = task->name();
  return out;
}
v1::FromAgent GoodWindows() {
  v1::FromAgent out;
  out.set_sequence(1);
  out.mutable_windows()->set_window(5'000'000);
  v1::TaskWindow* window = out.mutable_windows()->add_tasks();
  window->mutable_name()->set_job("j");
  window->mutable_name()->set_task("t");
  window->set_cpu_mean_cores(0);
  for (const uint32_t bucket : {0, 5, 320}) {
    window->add_cpu_buckets(bucket);
    window->add_cpu_seconds(100);
  }
  return out;
}
v1::FromAgent GoodOom() {
  v1::FromAgent out;
  out.mutable_oom()->mutable_name()->set_job("j");
  out.mutable_oom()->mutable_name()->set_task("t");
  out.mutable_oom()->set_limit_bytes(1e9);
  return out;
}
v1::FromAgent GoodOutcomes() {
  v1::FromAgent out;
  v1::Outcome* outcome = out.mutable_outcomes()->add_outcomes();
  outcome->mutable_name()->set_job("j");
  outcome->mutable_name()->set_task("t");
  outcome->set_text("refused by the kernel");
  return out;
}

v1::FromAgent GoodTierAct() {
  v1::FromAgent out;
  v1::TierAct* act = out.mutable_tier_act();
  act->mutable_name()->set_job("j");
  act->mutable_name()->set_task("t");
  act->set_tier("batch");
  act->set_kind(v1::TierAct::KILL);
  act->set_free_bytes(0);
  act->set_pressure_some(0.5);
  return out;
}

TEST(CheckMessage, TakesWhatAgentsSay) {
  for (const auto& message :
       {GoodHello(), GoodTasks(), GoodWindows(), GoodOom(), GoodOutcomes(), GoodTierAct()}) {
    EXPECT_EQ(CheckMessage(message), absl::OkStatus()) << message.ShortDebugString();
  }
  v1::FromAgent beat;
  beat.mutable_heartbeat()->set_cpu_share(0.01);
  EXPECT_EQ(CheckMessage(beat), absl::OkStatus());
}

TEST(CheckMessage, NamesWhatIsWrong) {
  struct Case {
    v1::FromAgent good;
    std::function<void(v1::FromAgent&)> spoil;
    const char* says;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  using M = v1::FromAgent;
  const auto window = [](M& m) { return m.mutable_windows()->mutable_tasks(0); };
  const Case cases[] = {
      {{}, [](M&) {}, "body"},
      {GoodHello(), [](M& m) { m.set_now_us(-1); }, "now_us"},
      {GoodHello(), [](M& m) { m.mutable_hello()->set_agent(""); }, "agent is empty"},
      {GoodHello(), [](M& m) { m.mutable_hello()->set_host("a\nb"); }, "host is not UTF-8"},
      {GoodHello(), [](M& m) { m.mutable_hello()->set_version(std::string(513, 'x')); },
       "version is longer than 512"},
      {GoodHello(), [&](M& m) { m.mutable_hello()->set_cores(infinite); }, "cores is inf"},
      {GoodHello(), [](M& m) { m.mutable_hello()->set_speed(-1); }, "speed is -1"},
      {GoodTasks(), [](M& m) { m.mutable_tasks()->mutable_gone(0)->clear_task(); }, "task is empty"},
      {GoodTasks(), [](M& m) { m.mutable_tasks()->mutable_gone(0)->set_pod_container("4f5e"); },
       "pod_container is not 64"},
      {GoodTasks(), [](M& m) { m.mutable_tasks()->mutable_started(0)->set_cpu_cores(-1); }, "cpu_cores"},
      {GoodTasks(), [](M& m) { m.mutable_tasks()->mutable_started(0)->set_container_id("4f5e"); },
       "container_id"},
      {GoodTasks(), [](M& m) { (*m.mutable_tasks()->mutable_started(0)->mutable_labels())[""] = "x"; },
       "label is"},
      {GoodTasks(), [](M& m) { (*m.mutable_tasks()->mutable_started(0)->mutable_labels())["x"] = "\x7F"; },
       "value"},
      {GoodTasks(),
       [](M& m) {
         for (int i = 0; i < 300; ++i)
           (*m.mutable_tasks()->mutable_started(0)->mutable_labels())[StrCat("label", i)] = "x";
       },
       "more than 256"},
      {GoodWindows(), [](M& m) { m.mutable_windows()->set_window(-1); }, "window is before"},
      {GoodWindows(), [&](M& m) { window(m)->set_memory_peak_bytes(nan); }, "memory_peak_bytes is nan"},
      {GoodWindows(), [&](M& m) { window(m)->add_cpu_buckets(1); }, "expected equal numbers"},
      {GoodWindows(), [&](M& m) { window(m)->set_cpu_buckets(1, 0); }, "are not in ascending order"},
      {GoodWindows(), [&](M& m) { window(m)->set_cpu_buckets(2, 321); }, "the highest is 320"},
      {GoodWindows(), [&](M& m) { window(m)->set_cpu_seconds(2, -1); }, "cpu_seconds"},
      {GoodOom(), [](M& m) { m.mutable_oom()->set_time_us(-1); }, "time_us"},
      {GoodOom(), [](M& m) { m.mutable_oom()->clear_name(); }, "job is empty"},
      {GoodOom(), [](M& m) { m.mutable_oom()->set_raised_to_bytes(-1); }, "raised_to_bytes"},
      {GoodTierAct(), [](M& m) { m.mutable_tier_act()->set_time_us(-1); }, "time_us"},
      {GoodTierAct(), [](M& m) { m.mutable_tier_act()->clear_name(); }, "job is empty"},
      {GoodTierAct(), [](M& m) { m.mutable_tier_act()->set_tier("Batch"); },
       "tier is \"Batch\"; expected free"},
      {GoodTierAct(), [](M& m) { m.mutable_tier_act()->set_kind(static_cast<v1::TierAct::Kind>(9)); },
       "kind"},
      {GoodTierAct(), [&](M& m) { m.mutable_tier_act()->set_pressure_full(infinite); }, "pressure_full"},
      {GoodTierAct(), [](M& m) { m.mutable_tier_act()->set_usage_bytes(-1); }, "usage_bytes"},
      {GoodTierAct(), [](M& m) { m.mutable_tier_act()->set_text("\x01"); }, "text"},
      {GoodOutcomes(),
       [](M& m) { m.mutable_outcomes()->mutable_outcomes(0)->set_resource(static_cast<v1::Resource>(7)); },
       "resource"},
      {GoodOutcomes(),
       [](M& m) {
         m.mutable_outcomes()->mutable_outcomes(0)->set_result(static_cast<v1::Outcome::Result>(-1));
       },
       "result"},
      {GoodOutcomes(), [](M& m) { m.mutable_outcomes()->mutable_outcomes(0)->set_text("\xC0\x80"); }, "text"},
  };
  for (const Case& c : cases) {
    v1::FromAgent message = c.good;
    c.spoil(message);
    const absl::Status status = CheckMessage(message);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.says;
    EXPECT_THAT(Message(status), HasSubstr(c.says));
  }
}

}  // namespace
}  // namespace taut
