#include "server/agents/pod_tasks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/base/strings.h"
#include "server/agents/order_fixture.h"

namespace taut::server {
namespace {

namespace pb = taut::agent::v1;

// Stores all messages that PodTasks passes on.
class HeardHub final : public AgentListener {
 public:
  void OnConnect(SessionId, const pb::FromAgent&, const std::string&) override { ++connected; }
  void OnMessage(SessionId, const pb::FromAgent& message) override { heard.push_back(message); }
  void OnDisconnect(SessionId) override { ++disconnected; }
  int connected = 0, disconnected = 0;
  std::vector<pb::FromAgent> heard;
};

class SentServer final : public AgentServer {
 public:
  bool Send(SessionId, pb::ToAgent message) override {
    sent.push_back(std::move(message));
    return true;
  }
  void Close(SessionId session) override { closed.push_back(session); }
  int port() const override { return 7071; }
  AgentServerCounts counts() const override { return {}; }
  void Stop() override {}
  std::vector<pb::ToAgent> sent;
  std::vector<SessionId> closed;
};

std::string IdOf(char digit) { return std::string(64, digit); }
// Returns the name that the agent uses for a container. The hub must not read the ID from this name.
std::string JobOf(char digit) { return StrCat("container-", std::string(1, digit)); }
pb::TaskName NameOfTask(const std::string& job) {
  pb::TaskName name;
  name.set_job(job);
  name.set_task("t");
  if (job.starts_with("container-")) name.set_pod_container(IdOf(job.back()));
  return name;
}

class PodTasksTest : public testing::Test {
 protected:
  PodTasksTest() { tasks.SetServer(&server); }

  static pb::FromAgent Started(const std::vector<std::string>& jobs, bool all = false) {
    pb::FromAgent message;
    message.mutable_tasks()->set_all(all);
    for (const std::string& job : jobs) {
      pb::Task& task = *message.mutable_tasks()->add_started();
      *task.mutable_name() = NameOfTask(job);
      task.set_owner_memory_bytes(1e6);
      (*task.mutable_labels())["path"] = "/kubepods";
    }
    return message;
  }
  static pb::FromAgent Window(uint64_t sequence, const std::vector<std::string>& jobs) {
    pb::FromAgent message;
    message.set_sequence(sequence);
    message.mutable_windows()->set_window(7);
    for (const std::string& job : jobs) {
      pb::TaskWindow& task = *message.mutable_windows()->add_tasks();
      *task.mutable_name() = NameOfTask(job);
      task.set_owner_memory_bytes(1e6F);
      task.set_memory_mean_bytes(5e5F);
    }
    return message;
  }
  static pb::FromAgent Gone(const std::string& job) {
    pb::FromAgent message;
    *message.mutable_tasks()->add_gone() = NameOfTask(job);
    return message;
  }
  // Returns "job task" for each started task in the hub's last message.
  std::vector<std::string> StartedNames() const {
    std::vector<std::string> out;
    for (const pb::Task& t : hub.heard.back().tasks().started())
      out.push_back(StrCat(t.name().job(), " ", t.name().task()));
    return out;
  }

  std::map<std::string, PodTasks::Name> pods;
  bool synced = true;
  double now_s = 1000;
  HeardHub hub;
  SentServer server;
  PodTasks tasks{{.find = [this](std::string_view id) -> std::optional<PodTasks::Name> {
                    const auto it = pods.find(std::string(id));
                    return it == pods.end() ? std::nullopt : std::optional(it->second);
                  },
                  .is_synced = [this] { return synced; },
                  .steady_s = [this] { return now_s; }},
                 &hub};
};

TEST_F(PodTasksTest, WhatIsOfNoPodPassesAsItIs) {
  tasks.OnMessage(1, Started({"system/sshd", "kubepods/no-id"}, true));
  EXPECT_EQ(hub.heard[0].SerializeAsString(),
            Started({"system/sshd", "kubepods/no-id"}, true).SerializeAsString());
  pb::ToAgent order;
  order.mutable_orders()->add_terms()->set_job("system/sshd");
  tasks.Send(1, order);
  EXPECT_EQ(server.sent[0].SerializeAsString(), order.SerializeAsString());
}

TEST_F(PodTasksTest, AContainerHasTheNameOfItsPodAndWorkload) {
  pods[IdOf('a')] = {"shop/deployment/web/app", "web-1"};
  tasks.OnMessage(1, Started({JobOf('a'), "system/sshd"}, true));
  EXPECT_EQ(StartedNames(), (Names{"shop/deployment/web/app web-1", "system/sshd t"}));
  const pb::Task& task = hub.heard[0].tasks().started(0);
  EXPECT_FALSE(task.has_owner_memory_bytes()) << "the pod's spec says what its owner wants";
  EXPECT_TRUE(task.labels().empty());
  tasks.OnMessage(1, Window(1, {JobOf('a')}));
  const pb::TaskWindow& window = hub.heard[1].windows().tasks(0);
  EXPECT_EQ(window.name().job(), "shop/deployment/web/app");
  EXPECT_EQ(window.memory_mean_bytes(), 5e5F);
  EXPECT_FALSE(window.has_owner_memory_bytes());
}

TEST_F(PodTasksTest, AnOlderAgentNamesAContainerByAPrefixOfItsJob) {
  const std::string job = StrCat("kubepods/cri-containerd-", IdOf('a'), ".scope");
  EXPECT_EQ(PodContainerOfOlderAgent(job), IdOf('a'));
  EXPECT_EQ(PodContainerOfOlderAgent(StrCat("kubepods/", IdOf('a'))), IdOf('a'));
  EXPECT_EQ(PodContainerOfOlderAgent("kubepods/no-id"), "");
  EXPECT_EQ(PodContainerOfOlderAgent(StrCat("docker/", IdOf('a'))), "") << "a container of no pod";
  pods[IdOf('a')] = {"shop/deployment/web/app", "web-1"};
  tasks.OnMessage(1, Started({job}, true));
  EXPECT_EQ(StartedNames(), Names{"shop/deployment/web/app web-1"});
  pb::ToAgent order;
  order.mutable_orders()->add_terms()->set_job("shop/deployment/web/app");
  tasks.Send(1, order);
  EXPECT_EQ(server.sent[0].orders().terms(0).job(), job);
}

TEST_F(PodTasksTest, JobsOfPodsAreKnownAsLongAsTheirContainersAre) {
  pods[IdOf('a')] = {"shop/deployment/web/app", "web-1"};
  pods[IdOf('b')] = {"shop/deployment/web/app", "web-2"};
  tasks.OnMessage(1, Started({JobOf('a'), JobOf('b'), "system/sshd"}, true));
  EXPECT_TRUE(tasks.IsPods("shop/deployment/web/app"));
  EXPECT_FALSE(tasks.IsPods("system/sshd"));
  pods[IdOf('b')].first = "shop/rollout/web/app";  // the pod's owner became known
  now_s += 5 * 3600;
  tasks.OnMessage(1, Window(1, {JobOf('b')}));
  EXPECT_TRUE(tasks.IsPods("shop/deployment/web/app"));
  EXPECT_TRUE(tasks.IsPods("shop/rollout/web/app"));
  now_s += 2 * 3600;
  tasks.OnConnect(2, {}, "");
  EXPECT_FALSE(tasks.IsPods("shop/deployment/web/app")) << "not heard of for hours";
  EXPECT_TRUE(tasks.IsPods("shop/rollout/web/app"));
}

TEST_F(PodTasksTest, OrdersGoToTheAgentByItsOwnNames) {
  pods[IdOf('a')] = {"shop/deployment/web/app", "web-1"};
  pods[IdOf('b')] = {"shop/deployment/web/app", "web-2"};
  tasks.OnMessage(1, Started({JobOf('a'), JobOf('b')}, true));
  pb::ToAgent message;
  pb::Order& order = *message.mutable_orders()->add_orders();
  order.mutable_name()->set_job("shop/deployment/web/app");
  order.mutable_name()->set_task("web-2");
  order.set_limit(5);
  message.mutable_orders()->add_terms()->set_job("shop/deployment/web/app");
  tasks.Send(1, message);
  const pb::Orders& sent = server.sent[0].orders();
  EXPECT_EQ(sent.orders(0).name().job(), JobOf('b'));
  EXPECT_EQ(sent.orders(0).name().pod_container(), IdOf('b')) << "as in the outcome of an order for no task";
  EXPECT_EQ(sent.orders(0).name().task(), "t");
  ASSERT_EQ(sent.terms_size(), 2) << "each container is a job of the agent";
  EXPECT_EQ(sent.terms(0).job(), JobOf('a'));
  EXPECT_EQ(sent.terms(1).job(), JobOf('b'));
  pb::FromAgent outcome;
  *outcome.mutable_outcomes()->add_outcomes()->mutable_name() = NameOfTask(JobOf('b'));
  tasks.OnMessage(1, outcome);
  EXPECT_EQ(hub.heard.back().outcomes().outcomes(0).name().task(), "web-2");
}

TEST_F(PodTasksTest, AContainerThatIsFoundBeforeItsPodIsKnownWaits) {
  tasks.OnMessage(1, Started({JobOf('a')}));
  EXPECT_EQ(StartedNames(), Names{});
  EXPECT_EQ(tasks.pod_counts().waiting, 1U);
  pods[IdOf('a')] = {"shop/deployment/web/app", "web-1"};
  pb::FromAgent beat;
  beat.mutable_heartbeat();
  tasks.OnMessage(1, beat);
  EXPECT_EQ(StartedNames(), (Names{"shop/deployment/web/app web-1"}));
  EXPECT_EQ(tasks.pod_counts().waiting, 0U);
  tasks.OnMessage(1, beat);
  EXPECT_TRUE(hub.heard.back().has_heartbeat()) << "and comes once";
}

TEST_F(PodTasksTest, AContainerThatIsStartedAgainKeepsItsTask) {
  pods[IdOf('a')] = {"shop/deployment/web/app", "web-1"};
  tasks.OnMessage(1, Started({JobOf('a')}));
  pods.clear();
  pods[IdOf('b')] = {"shop/deployment/web/app", "web-1"};
  tasks.OnMessage(1, Started({JobOf('b')}));
  tasks.OnMessage(1, Gone(JobOf('a')));
  EXPECT_EQ(hub.heard.back().tasks().gone_size(), 0) << "its task goes on";
  tasks.OnMessage(1, Window(1, {JobOf('a'), JobOf('b')}));
  EXPECT_EQ(hub.heard.back().windows().tasks_size(), 2) << "the window of the old one counts";
  tasks.OnMessage(1, Gone(JobOf('b')));
  ASSERT_EQ(hub.heard.back().tasks().gone_size(), 1);
  EXPECT_EQ(hub.heard.back().tasks().gone(0).task(), "web-1");
}

TEST_F(PodTasksTest, WindowsOfNoKnownPodAreDroppedAndAcknowledged) {
  tasks.OnMessage(1, Window(6, {JobOf('d'), "system/sshd"}));
  EXPECT_EQ(hub.heard.back().sequence(), 6U);
  ASSERT_EQ(hub.heard.back().windows().tasks_size(), 1);
  EXPECT_EQ(hub.heard.back().windows().tasks(0).name().job(), "system/sshd");
  pb::FromAgent oom;
  oom.set_sequence(7);
  *oom.mutable_oom()->mutable_name() = NameOfTask(JobOf('d'));
  tasks.OnMessage(1, oom);
  EXPECT_EQ(hub.heard.back().sequence(), 7U);
  EXPECT_FALSE(hub.heard.back().has_oom());
  EXPECT_EQ(tasks.pod_counts().dropped, 2U);
}

TEST_F(PodTasksTest, ActsOfTheGuardGetTheNameOfThePod) {
  pods[IdOf('a')] = {"shop/deployment/web/app", "web-1"};
  pb::FromAgent act;
  act.set_sequence(1);
  *act.mutable_tier_act()->mutable_name() = NameOfTask(JobOf('a'));
  tasks.OnMessage(1, act);
  EXPECT_EQ(hub.heard.back().tier_act().name().job(), "shop/deployment/web/app");
  EXPECT_EQ(hub.heard.back().tier_act().name().task(), "web-1");
  act.set_sequence(2);
  *act.mutable_tier_act()->mutable_name() = NameOfTask(JobOf('d'));
  tasks.OnMessage(1, act);
  EXPECT_EQ(hub.heard.back().sequence(), 2U);
  EXPECT_FALSE(hub.heard.back().has_tier_act());
  EXPECT_EQ(tasks.pod_counts().dropped, 1U);
}

TEST_F(PodTasksTest, BeforeThePodsAreKnownNothingOfThemIsTaken) {
  synced = false;
  tasks.OnMessage(1, Window(1, {JobOf('a')}));
  EXPECT_EQ(server.closed, (std::vector<SessionId>{1}));
  tasks.OnMessage(1, Window(2, {"system/sshd"}));
  EXPECT_TRUE(hub.heard.empty()) << "nothing may be acknowledged before it";
  tasks.OnDisconnect(1);
  synced = true;
  pods[IdOf('a')] = {"shop/deployment/web/app", "web-1"};
  tasks.OnMessage(2, Window(1, {JobOf('a')}));
  EXPECT_EQ(hub.heard.size(), 1U);
}

TEST_F(PodTasksTest, NamesOfContainersAreForgottenAfterHours) {
  pods[IdOf('a')] = {"shop/deployment/web/app", "web-1"};
  tasks.OnMessage(1, Started({JobOf('a')}));
  pods.clear();
  now_s += 7 * 3600;
  tasks.OnConnect(2, pb::FromAgent(), "");
  tasks.OnMessage(2, Window(1, {JobOf('a')}));
  EXPECT_EQ(hub.heard.back().windows().tasks_size(), 0);
}

}  // namespace
}  // namespace taut::server
