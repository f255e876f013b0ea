#include "server/kubernetes/client/api_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "common/net/server_fixture.h"
#include "common/testing/temp_dir.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// An API server that accepts some users, and a credential plugin: a script that prints token.json and counts its
// runs.
class PluginClient : public ServerFixture {
 protected:
  struct State {
    std::mutex mutex;
    std::set<std::string> accepted;
    std::vector<std::string> asked;  // method, user and status of each request
  };

  void SetUp() override {
    std::filesystem::permissions(dir_.Write("login", StrCat("#!/bin/sh\necho >>", dir_.File("runs"), "\ncat ",
                                                            dir_.File("token.json"), "\n")),
                                 std::filesystem::perms::owner_all);
    access_.plugin.api_version = kExecV1;
    access_.plugin.command = dir_.File("login");
  }
  void StartServer(const ServerOptions& options = {}) {
    Serve(options, [state = state_](const HttpRequest& request) {
      const std::lock_guard lock(state->mutex);
      const std::string* header = request.header("Authorization");
      const std::string who = header != nullptr ? *header : StrCat("certificate ", request.user);
      const bool accepted = state->accepted.contains(who);
      state->asked.push_back(StrCat(request.method, " ", who, accepted ? "" : " refused"));
      return accepted ? TextResponse(200, "{}\n") : ErrorResponse(401, "Unauthorized");
    });
    access_.server = StrCat(options.certificate_file.empty() ? "http" : "https", "://127.0.0.1:", port());
    ASSERT_TRUE(OpenCredentials(access_, {"PATH=/usr/bin:/bin"}, [this] {
                  return Timestamp::FromSeconds(now_s_);
                }).ok());
  }
  void Prints(std::string_view status) {
    dir_.Write("token.json",
               StrCat(R"({"kind":"ExecCredential","apiVersion":")", kExecV1, R"(","status":)", status, "}"));
  }
  void Accepts(std::set<std::string> who) {
    const std::lock_guard lock(state_->mutex);
    state_->accepted = std::move(who);
  }
  std::vector<std::string> Asked() {
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->asked, {});
  }
  size_t Runs() const {
    std::error_code none;
    const auto size = std::filesystem::file_size(dir_.File("runs"), none);
    return none ? 0 : size;
  }
  std::string Text(const std::string& name) const {
    std::ifstream file(dir_.File(name));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::unique_ptr<ApiClient> Api() {
    auto client = ApiClient::Create(access_, {});
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }

  const TempDir dir_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  std::atomic<int64_t> now_s_ = 1'700'000'000;  // 2023-11-14T22:13:20Z
  ClusterAccess access_;
};

TEST_F(PluginClient, RunsThePluginOnceUntilItsTokenExpires) {
  StartServer();
  Accepts({"Bearer one", "Bearer two"});
  Prints(R"({"token":"one","expirationTimestamp":"2023-11-14T22:28:20Z"})");
  const auto first = Api(), second = Api();
  EXPECT_EQ(Runs(), 0U);
  for (ApiClient* client : {first.get(), second.get()}) EXPECT_TRUE(client->Get("/x").ok());
  EXPECT_EQ(Runs(), 1U);
  Prints(R"({"token":"two"})");
  now_s_ += 901;
  EXPECT_TRUE(second->Get("/x").ok());
  EXPECT_THAT(Asked(), ElementsAre("GET Bearer one", "GET Bearer one", "GET Bearer two"));
  EXPECT_EQ(Runs(), 2U);
}

TEST_F(PluginClient, A401MakesOneRunForAllClients) {
  StartServer();
  Accepts({"Bearer one"});
  Prints(R"({"token":"one"})");
  std::vector<std::unique_ptr<ApiClient>> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(Api());
    EXPECT_TRUE(clients.back()->Get("/x").ok());
  }
  Accepts({"Bearer two"});
  Prints(R"({"token":"two"})");
  now_s_ += 60;
  (void)Asked();
  std::atomic<int> answered = 0;
  std::vector<std::thread> threads;
  threads.reserve(clients.size());
  for (const auto& client : clients) {
    threads.emplace_back([&answered, &client] {
      answered += client->Create("/x", "{}").ok();
      answered += client
                      ->Watch(
                          "/x", "", [](std::string_view /*line*/) { return true; }, std::chrono::seconds(60))
                      .ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, 12) << "each request that was refused is made again";
  EXPECT_EQ(Runs(), 2U);

  Accepts({});
  now_s_ += 60;
  for (int i = 0; i < 5; ++i) {
    for (const auto& client : clients) EXPECT_TRUE(absl::IsUnauthenticated(client->Get("/x").status()));
  }
  EXPECT_EQ(Runs(), 3U) << "nor is a server that accepts none a reason to run it for each request";
}

TEST_F(PluginClient, AWatchThatIsRefusedIsBegunAgain) {
  StartServer();
  Prints(R"({"token":"one"})");
  Accepts({"Bearer one"});
  const auto client = Api();
  EXPECT_TRUE(client->Get("/x").ok());
  Prints(R"({"token":"two"})");
  Accepts({"Bearer two"});
  now_s_ += 60;
  int lines = 0;
  const auto count = [&lines](std::string_view /*line*/) { return ++lines > 0; };
  EXPECT_TRUE(client->Watch("/x", "", count, std::chrono::seconds(60)).ok());
  EXPECT_EQ(lines, 1);
  EXPECT_THAT(Asked(), ElementsAre("GET Bearer one", "GET Bearer one refused", "GET Bearer two"));
}

TEST_F(PluginClient, SaysWhyThereIsNoCredential) {
  StartServer();
  Prints("{}");
  const auto client = Api();
  for (int i = 0; i < 3; ++i) {
    const absl::Status status = client->Get("/x").status();
    EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
    EXPECT_THAT(std::string(Message(status)),
                AllOf(HasSubstr("credential plugin"), HasSubstr("has no credential: expected status.token")));
  }
  EXPECT_EQ(Runs(), 1U);
  EXPECT_THAT(Asked(), testing::IsEmpty()) << "the server is not asked without one";
}

TEST_F(PluginClient, AStopEndsAWaitForThePlugin) {
  StartServer();
  std::filesystem::permissions(dir_.Write("login", "#!/bin/sh\nsleep 600\n"),
                               std::filesystem::perms::owner_all);
  const auto client = Api();
  std::thread stopper([&client] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    client->Interrupt();
  });
  EXPECT_THAT(std::string(Message(client->Get("/x").status())), HasSubstr("stopped"));
  stopper.join();
}

TEST_F(PluginClient, ANewCertificateIsANewConnection) {
  const auto make = [this](const std::string& name) {
    return std::system(
               StrCat(
                   "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=",
                   name, " -addext subjectAltName=IP:127.0.0.1 -keyout ", dir_.File(name), ".key -out ",
                   dir_.File(name), ".pem >/dev/null 2>&1")
                   .c_str()) == 0;
  };
  if (!make("server") || !make("one") || !make("two")) GTEST_SKIP() << "the program openssl is not installed";
  dir_.Write("clients.pem", Text("one.pem") + Text("two.pem"));
  access_.ca_file = dir_.File("server.pem");
  ServerOptions options;
  options.certificate_file = dir_.File("server.pem");
  options.key_file = dir_.File("server.key");
  options.client_ca_file = dir_.File("clients.pem");
  StartServer(options);
  const auto prints = [this](const std::string& name) {
    std::string text = StrCat(R"({"clientCertificateData":")", Text(name + ".pem"), R"(","clientKeyData":")",
                              Text(name + ".key"), R"(","expirationTimestamp":"2023-11-14T22:28:20Z"})");
    for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, "\\n");
    Prints(text);
  };
  prints("one");
  Accepts({"certificate one"});
  const auto client = Api();
  EXPECT_TRUE(client->Get("/x").ok());
  prints("two");
  Accepts({"certificate two"});
  now_s_ += 901;
  EXPECT_TRUE(client->Get("/x").ok());
  EXPECT_THAT(Asked(), ElementsAre("GET certificate one", "GET certificate two"));
  client->Interrupt();
  EXPECT_FALSE(client->Get("/x").ok()) << "also of the connection that replaced the first";
}

}  // namespace
}  // namespace taut::server
