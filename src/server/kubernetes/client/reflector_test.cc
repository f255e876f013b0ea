#include "server/kubernetes/client/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "common/net/event_stream.h"
#include "common/net/server_fixture.h"
#include "common/testing/temp_dir.h"
#include "server/kubernetes/act/cluster_writer.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string PodJson(const std::string& name, const std::string& version) {
  return StrCat(R"({"metadata":{"name":")", name, R"(","namespace":"shop","resourceVersion":")", version,
                R"("}})");
}

// An API server that sends each listed response once, and then nothing.
class Kubernetes : public ServerFixture {
 protected:
  struct Answer {
    int status = 200;
    std::string body;
  };

  void StartServer() {
    Serve({}, [state = state_](const HttpRequest& request) {
      const std::lock_guard lock(state->mutex);
      std::string query;
      for (const QueryParameter& p : request.query) {
        if (p.name != "timeoutSeconds" && p.name != "allowWatchBookmarks")
          StrAppend(&query, query.empty() ? "" : "&", p.name, "=", p.value);
      }
      state->asked.push_back(query);
      if (const std::string* token = request.header("Authorization"); token != nullptr) state->token = *token;
      if (state->answers.empty()) return ErrorResponse(503, "nothing more to say");
      Answer answer = std::move(state->answers.front());
      state->answers.erase(state->answers.begin());
      return HttpResponse{answer.status, "application/json", std::move(answer.body), {}, nullptr, nullptr};
    });
  }
  void Answers(std::vector<Answer> answers) {
    const std::lock_guard lock(state_->mutex);
    state_->answers = std::move(answers);
  }
  std::vector<std::string> Asked() {
    const std::lock_guard lock(state_->mutex);
    return state_->asked;
  }
  std::unique_ptr<ApiClient> Api(ClusterAccess access = {}) {
    access.server = StrCat("http://127.0.0.1:", port());
    auto client = ApiClient::Create(access, {});
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }
  // Runs until every response was sent and one more request arrived.
  void RunReflector() {
    const size_t expected = state_->answers.size();
    Reflector<Pod> reflector(
        {.path = "/api/v1/pods",
         .list_accept = {},
         .watch_accept = {},
         .page = 2,
         .first_retry = first_retry_,
         .last_retry = last_retry_,
         .absent_retry = absent_retry_},
        Api(),
        {.replace =
             [this](const std::vector<Pod>& pods) {
               names_.clear();
               for (const Pod& pod : pods) names_.insert(pod.name);
               ++replaced_;
             },
         .put = [this](const Pod& pod) { names_.insert(pod.name); },
         .remove = [this](const Pod& pod) { names_.erase(pod.name); }},
        [this](std::chrono::milliseconds pause) {
          pauses_.push_back(pause);
          std::this_thread::sleep_for(std::min(pause, std::chrono::milliseconds(5)));
        },
        [this](const absl::Status& status) {
          notes_.push_back(status.ok() ? "ok" : std::string(Message(status)));
        });
    std::thread thread([&reflector] { reflector.Run(); });
    EXPECT_TRUE(Eventually([&] { return Asked().size() > expected; }));
    reflector.Stop();
    thread.join();
    lists_ = reflector.lists();
  }

  // Shared, because the handler's threads may outlive the test's members.
  struct State {
    std::mutex mutex;
    std::vector<Answer> answers;
    std::vector<std::string> asked;
    std::string token;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  std::chrono::milliseconds absent_retry_{0}, first_retry_{1}, last_retry_{5};
  std::vector<std::chrono::milliseconds> pauses_;
  std::set<std::string> names_;
  int replaced_ = 0;
  uint64_t lists_ = 0;
  std::vector<std::string> notes_;
};

std::string ListJson(const std::vector<std::string>& names, const std::string& version,
                     const std::string& next = "") {
  std::string items;
  for (const std::string& name : names) StrAppend(&items, items.empty() ? "" : ",", PodJson(name, "1"));
  return StrCat(R"({"kind":"PodList","metadata":{"resourceVersion":")", version, R"(","continue":")", next,
                R"("},"items":[)", items, "]}");
}
std::string EventJson(const std::string& type, const std::string& name, const std::string& version) {
  return StrCat(R"({"type":")", type, R"(","object":)", PodJson(name, version), "}\n");
}

TEST_F(Kubernetes, ListsInPagesThenWatches) {
  StartServer();
  Answers({{200, ListJson({"a", "b"}, "5", "more")},
           {200, ListJson({"c"}, "5")},
           {200, StrCat(EventJson("ADDED", "d", "6"), EventJson("DELETED", "a", "7"),
                        R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"11"}}})", "\n")}});
  RunReflector();
  EXPECT_THAT(names_, ElementsAre("b", "c", "d"));
  const auto asked = Asked();
  EXPECT_EQ(asked[0], "limit=2");
  EXPECT_EQ(asked[1], "limit=2&continue=more");
  EXPECT_EQ(asked[2], "watch=1&resourceVersion=5");
  EXPECT_EQ(asked[3], "watch=1&resourceVersion=11") << "the watch goes on from the bookmark";
  EXPECT_EQ(lists_, 1U);
}

TEST_F(Kubernetes, AServerThatIsAwayCostsNoList) {
  StartServer();
  Answers({{200, ListJson({"a"}, "5")}, {503, "{}"}, {403, "{}"}, {200, EventJson("ADDED", "b", "6")}});
  RunReflector();
  EXPECT_THAT(names_, ElementsAre("a", "b"));
  EXPECT_EQ(lists_, 1U);
  EXPECT_EQ(replaced_, 1);
  ASSERT_GE(notes_.size(), 3U);
  EXPECT_EQ(notes_[2], "ok");
}

TEST_F(Kubernetes, AVersionThatIsTooOldIsListedAgain) {
  StartServer();
  Answers(
      {{200, ListJson({"a"}, "5")},
       {200, R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}})"
             "\n"},
       {200, ListJson({"b"}, "9")},
       {200, EventJson("ADDED", "c", "10")}});
  RunReflector();
  EXPECT_THAT(names_, ElementsAre("b", "c"));
  EXPECT_EQ(lists_, 2U);
}

TEST_F(Kubernetes, ANonsenseAnswerIsNoEndOfIt) {
  StartServer();
  Answers({{200, "<html>"},
           {403, R"({"kind":"Status","message":"pods is forbidden: User \"x\" cannot list"})"},
           {200, ListJson({"a"}, "5")},
           {200, EventJson("ADDED", "b", "6")}});
  RunReflector();
  EXPECT_THAT(names_, ElementsAre("a", "b"));
  ASSERT_GE(notes_.size(), 3U);
  EXPECT_THAT(notes_[0], HasSubstr("not a JSON object"));
  EXPECT_THAT(notes_[1], HasSubstr("the API server answered 403: pods is forbidden: User \"x\" cannot list"));
  EXPECT_EQ(notes_[2], "ok");
}

TEST_F(Kubernetes, AKindThatIsAbsentHasNoObjectsAndIsAskedForAgain) {
  StartServer();
  absent_retry_ = std::chrono::minutes(5);
  Answers({{404, "404 page not found"},
           {404, "404 page not found"},
           {200, ListJson({"a"}, "5")},
           {200, EventJson("ADDED", "b", "6")}});
  RunReflector();
  EXPECT_THAT(names_, ElementsAre("a", "b"));
  EXPECT_EQ(replaced_, 2) << "by none, once, and by what is there then";
  ASSERT_GE(notes_.size(), 2U);
  EXPECT_THAT(notes_[0], HasSubstr("404"));
  EXPECT_EQ(notes_[1], "ok") << "it is noted once";
}

TEST_F(Kubernetes, PausesAreDrawnSoThatClientsComeBackApart) {
  StartServer();
  first_retry_ = last_retry_ = std::chrono::seconds(10);
  Answers(std::vector<Answer>(20, {503, "{}"}));
  RunReflector();
  ASSERT_GE(pauses_.size(), 20U);
  pauses_.resize(20);
  for (const std::chrono::milliseconds pause : pauses_) {
    EXPECT_GE(pause, std::chrono::seconds(5));
    EXPECT_LT(pause, std::chrono::seconds(15));
  }
  EXPECT_GT(std::set<std::chrono::milliseconds>(pauses_.begin(), pauses_.end()).size(), 10U);
}

// The server is silent, as if a firewall had dropped the connection.
TEST_F(Kubernetes, AWatchWithoutAWordIsBegunAgainWithinHalfAMinute) {
  const ReflectorOptions defaults;
  EXPECT_LE(defaults.silence, std::chrono::seconds(30));
  EXPECT_LT(defaults.watch + std::chrono::seconds(5), defaults.silence)
      << "the server ends a quiet one before";
  std::mutex mutex;
  std::vector<std::string> watches;
  Serve({}, [&](const HttpRequest& request) {
    HttpResponse response{200, "application/json", ListJson({"a"}, "5"), {}, nullptr, nullptr};
    const auto seconds = std::ranges::find(request.query, "timeoutSeconds", &QueryParameter::name);
    if (seconds == request.query.end()) return response;
    const std::lock_guard lock(mutex);
    watches.push_back(seconds->value);
    response.body.clear();
    response.stream = std::make_shared<EventStream>();
    return response;
  });
  std::vector<std::string> notes;
  Reflector<Pod> reflector(
      {.path = "/api/v1/pods",
       .list_accept = {},
       .watch_accept = {},
       .silence = std::chrono::milliseconds(30),
       .first_retry = std::chrono::milliseconds(1)},
      Api(), {.replace = [](const std::vector<Pod>&) {}, .put = {}, .remove = {}},
      [](std::chrono::milliseconds pause) { std::this_thread::sleep_for(pause); },
      [&](const absl::Status& status) {
        const std::lock_guard lock(mutex);
        notes.emplace_back(Message(status));
      });
  std::thread thread([&reflector] { reflector.Run(); });
  EXPECT_TRUE(Eventually([&] {
    const std::lock_guard lock(mutex);
    return watches.size() >= 3 && notes.size() >= 2;
  }));
  reflector.Stop();
  thread.join();
  EXPECT_EQ(reflector.lists(), 1U) << "it goes on from its version";
  for (const std::string& seconds : watches) {
    EXPECT_GE(std::stoi(seconds), 15);
    EXPECT_LE(std::stoi(seconds), 20);
  }
}

TEST_F(Kubernetes, TheTokensFileIsReadAgain) {
  StartServer();
  const TempDir dir;
  ClusterAccess access;
  access.token_file = dir.Write("token", "one\n");
  const auto client = Api(access);
  (void)client->Get("/x");
  EXPECT_EQ(state_->token, "Bearer one");
  dir.Write("token", "two");
  (void)client->Get("/x");
  EXPECT_EQ(state_->token, "Bearer two");
  std::filesystem::remove(access.token_file);
  EXPECT_TRUE(absl::IsUnauthenticated(client->Get("/x").status()));
}

TEST_F(Kubernetes, AStopEndsAWatchThatSaysNothing) {
  auto stream = std::make_shared<EventStream>();
  Serve({}, [stream](const HttpRequest& /*request*/) {
    HttpResponse response;
    response.stream = stream;
    return response;
  });
  const auto client = Api();
  std::thread stopper([&client] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    client->Interrupt();
  });
  (void)client->Watch(
      "/watch", "", [](std::string_view /*line*/) { return true; }, std::chrono::seconds(600));
  stopper.join();
  EXPECT_THAT(std::string(Message(client->Get("/x").status())), HasSubstr("stopped"));
}

TEST(ClusterWriter, KnowsPathsOfWorkloads) {
  EXPECT_EQ(*WorkloadPath({"shop", "deployment", "web", "app"}),
            "/apis/apps/v1/namespaces/shop/deployments/web");
  EXPECT_EQ(*WorkloadPath({"shop", "cronjob", "web", ""}), "/apis/batch/v1/namespaces/shop/cronjobs/web");
  EXPECT_THAT(std::string(Message(WorkloadPath({"shop", "rollout", "web", ""}).status())),
              HasSubstr("the owner is a rollout"));
}

}  // namespace
}  // namespace taut::server
