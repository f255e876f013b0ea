// Tests concurrent calls by agents, the loop, a person and readers: no message is lost or counted twice. The
// build with ThreadSanitizer finds data races.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "common/base/strings.h"
#include "server/agents/hub_fixture.h"
#include "server/agents/order_fixture.h"
#include "server/control/set_one_fixture.h"

namespace taut::server {
namespace {

namespace pb = taut::agent::v1;

constexpr int kAgents = 6, kWindows = 12, kTasks = 40;

Names TasksOf(int number) {
  Names names;
  for (int i = 0; i < kTasks; ++i) names.push_back(StrCat("agent-", number, "/", i));
  return names;
}

// Simulates one agent, which connects again and again while its old stream is still in use, and resends all
// messages that were not acknowledged.
void Attend(HubCell& cell, std::atomic<SessionId>& last, int number) {
  const std::string name = StrCat("agent-", number);
  const Names tasks = TasksOf(number);
  uint64_t acked = 0;
  const auto send = [&](SessionId session) {
    for (uint64_t s = acked + 1; s <= kWindows; ++s) {
      cell.hub().OnMessage(session, HubCell::WindowsOf(s, HubCell::Window(static_cast<int>(s) - 1), tasks));
    }
  };
  for (int round = 0; acked < kWindows && round < 5000; ++round) {
    const SessionId old = ++last, session = ++last;
    cell.hub().OnConnect(old, HelloOf(name), "");
    std::thread old_stream([&] {
      send(old);
      cell.hub().OnDisconnect(old);
    });
    std::this_thread::sleep_for(std::chrono::microseconds(200 * number));
    cell.hub().OnConnect(session, HelloOf(name), "");
    send(session);
    cell.Tasks(session, tasks);
    cell.Say(session, 1, tasks[0], pb::Outcome::APPLIED);
    old_stream.join();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    acked = std::max({acked, cell.server.Acked(old), cell.server.Acked(session)});
  }
  EXPECT_EQ(acked, static_cast<uint64_t>(kWindows)) << name;
}

TEST(AgentHubThreads, AgentsTicksPeopleAndOnlookersAtOnce) {
  HubCell cell;
  cell.now_s = HubCell::EndOf(HubCell::Window(kWindows));
  int64_t clock_s = HubCell::kStart;  // the loop's clock, which lags behind
  std::atomic<SessionId> last{0};
  std::atomic<bool> done{false};
  std::atomic<int> ready{0};
  std::vector<std::thread> agents;
  for (int i = 0; i < kAgents; ++i) {
    agents.emplace_back([&cell, &last, &ready, i] {
      Attend(cell, last, i);
      ++ready;
    });
  }
  std::thread onlooker([&] {
    while (!done) {
      for (const AgentView& v : cell.hub().Agents().known) EXPECT_LE(v.managed_tasks, v.tasks);
      (void)cell.hub().counts();
      // A mutex is not fair: a thread that never waits can keep the mutex from other threads for minutes.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::thread person([&] {
    for (int i = 0; !done; ++i) {
      if (const auto job = cell.control().Find("shop/web"); job.has_value()) {
        EXPECT_TRUE(SetOne(cell.control(), *job, "mode", i % 2 == 0 ? "observe" : "", "anna").ok());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  });
  for (int i = 0; ready < kAgents && i < 20'000; ++i) {
    cell.hub().BeginTick();
    const absl::Status s = cell.control().Tick(Timestamp::FromSeconds(clock_s));
    cell.hub().EndTick(s.ok());
    if (i % 5 == 4) clock_s += 60;
    cell.steady_s = cell.steady_s + 0.01;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (std::thread& t : agents) t.join();
  done = true;
  onlooker.join();
  person.join();
  // No part of a window was counted twice, for any order of the streams.
  int windows = 0;
  EXPECT_TRUE(cell.store
                  .ReadWindows(WindowId{INT32_MIN / 2},
                               [&windows](const ClosedWindow& closed) {
                                 ++windows;
                                 double seconds = 0;
                                 for (const BucketWeight& b : closed.cpu_buckets) seconds += double{b.weight};
                                 EXPECT_EQ(closed.tasks.size(), static_cast<size_t>(kAgents) * kTasks);
                                 EXPECT_NEAR(seconds, 300.0 * kAgents * kTasks, 1);
                                 return absl::OkStatus();
                               })
                  .ok());
  EXPECT_EQ(windows, kWindows);
  const IngestCounts counts = cell.control().ingest().counts.samples();
  EXPECT_EQ(counts.accepted + counts.out_of_order, uint64_t{kAgents} * kTasks * kWindows);
  EXPECT_EQ(counts.too_late, 0U);
}

}  // namespace
}  // namespace taut::server
