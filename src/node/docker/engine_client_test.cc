#include "node/docker/engine_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/docker/fake_engine.h"

namespace taut::node {
namespace {

using ::testing::HasSubstr;

constexpr char kVersion[] = R"({"Version":"20.10.24","ApiVersion":"1.41","MinAPIVersion":"1.12"})";

absl::StatusOr<std::shared_ptr<EngineClient>> ClientAt(std::string address) {
  EngineClientOptions options;
  options.address = std::move(address);
  return EngineClient::Create(options);
}

std::shared_ptr<EngineClient> ClientOf(const FakeEngine& engine, EngineClientOptions options = {}) {
  options.address = StrCat("unix://", engine.socket_path());
  return *EngineClient::Create(options);
}

// Answers /version, and every other path with `status` and `body`.
FakeEngine::Handler Always(int status, std::string body) {
  return [status, body](const FakeRequest& r) {
    return r.path == "/version" ? FakeAnswer{.body = kVersion} : FakeAnswer{.status = status, .body = body};
  };
}

TEST(EngineClient, SpeaksAVersionThatBothKnow) {
  const auto choose = [](const char* most, const char* least) {
    const auto chosen = ChooseApiVersion({"x", most, least});
    return chosen.ok() ? *chosen : std::string(Message(chosen.status()));
  };
  EXPECT_EQ(choose("1.41", "1.12"), "1.41");
  EXPECT_EQ(choose("1.30", "1.12"), "1.30");
  EXPECT_EQ(choose("1.47", "1.24"), "1.41");
  EXPECT_EQ(choose("1.52", "1.44"), "1.44");
  EXPECT_EQ(choose("1.52", ""), "1.41");
  EXPECT_THAT(choose("1.20", ""), HasSubstr("1.24 is needed"));
  EXPECT_THAT(choose("2.0", ""), HasSubstr("speaks API 2.0"));
}

TEST(EngineClient, AsksForTheVersionOnce) {
  FakeEngine engine(Always(200, "[]"));
  const auto client = ClientOf(engine);
  EXPECT_TRUE(client->ListRunning().ok());
  EXPECT_TRUE(client->ListRunning().ok());
  const auto requests = engine.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0].path, "/version");
  EXPECT_EQ(requests[1].path, "/v1.41/containers/json");
  EXPECT_EQ(requests[2].path, "/v1.41/containers/json");
}

TEST(EngineClient, SendsAnUpdate) {
  FakeEngine engine(Always(200, R"({"Warnings":null})"));
  EXPECT_TRUE(ClientOf(engine)->Update("c8a8", R"({"Memory":1})").ok());
  const auto request = engine.requests().back();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/v1.41/containers/c8a8/update");
  EXPECT_EQ(request.body, R"({"Memory":1})");
}

TEST(EngineClient, ErrorsHaveTheEnginesWords) {
  struct Case {
    int status;
    const char* message;
    absl::StatusCode code;
  };
  const Case cases[] = {
      {404, "No such container: x", absl::StatusCode::kNotFound},
      {400, "Minimum memory limit allowed is 6MB", absl::StatusCode::kInvalidArgument},
      {409, "Conflicting options: CPU Quota cannot be updated", absl::StatusCode::kFailedPrecondition},
      {500, "Cannot update container c2: unable to set memory limit to 2 (current usage: 3, peak usage: 4)",
       absl::StatusCode::kResourceExhausted},
      {500, "write memory.limit_in_bytes: device or resource busy", absl::StatusCode::kResourceExhausted},
      {500, "runc did not terminate successfully", absl::StatusCode::kInternal},
      {503, "shutting down", absl::StatusCode::kUnavailable},
  };
  for (const Case& c : cases) {
    FakeEngine engine(Always(c.status, StrCat(R"({"message":")", c.message, "\"}")));
    const absl::Status status = ClientOf(engine)->Update("x", "{}");
    EXPECT_EQ(status.code(), c.code) << status;
    EXPECT_THAT(std::string(Message(status)), HasSubstr(c.message));
  }
}

TEST(EngineClient, SaysWhereNobodyAnswers) {
  const auto client = ClientAt("/tmp/taut_there_is_no/docker.sock").value();
  const absl::Status status = client->ListRunning().status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(Message(status)), HasSubstr("/tmp/taut_there_is_no/docker.sock: no such socket"));
  EXPECT_THAT(std::string(Message(status)), HasSubstr("Docker is running"));

  FakeEngine engine(Always(200, "[]"));
  const auto left = ClientOf(engine);
  EXPECT_TRUE(left->ListRunning().ok());
  engine.Stop();
  const absl::Status gone = left->ListRunning().status();
  EXPECT_TRUE(absl::IsUnavailable(gone)) << gone;
  EXPECT_THAT(std::string(Message(gone)), HasSubstr("cannot connect"));
  // The client finds the restarted engine, which may be of another version.
  engine.Restart();
  EXPECT_TRUE(left->ListRunning().ok());
  EXPECT_EQ(engine.requests().at(engine.requests().size() - 2).path, "/version");
}

TEST(EngineClient, WaitsOnlySoLongAndReadsOnlySoMuch) {
  FakeEngine silent([](const FakeRequest&) { return FakeAnswer{.hangs = true}; });
  EngineClientOptions options;
  options.timeout = std::chrono::milliseconds(100);
  const absl::Status late = ClientOf(silent, options)->ListRunning().status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;

  FakeEngine endless(Always(200, std::string(5000, ' ')));
  options = {};
  options.max_answer_bytes = 4999;
  const absl::Status much = ClientOf(endless, options)->ListRunning().status();
  EXPECT_TRUE(absl::IsDataLoss(much)) << much;
  EXPECT_THAT(std::string(Message(much)), HasSubstr("longer than 4999 bytes"));
}

TEST(EngineClient, NothingButAnIdGetsIntoAPath) {
  FakeEngine engine(Always(200, "{}"));
  const auto client = ClientOf(engine);
  for (const char* id : {"", "a/../b", "a b", "a?x=1", "\xc3\xa4"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(client->Inspect(id).status())) << id;
    EXPECT_TRUE(absl::IsInvalidArgument(client->Update(id, "{}"))) << id;
  }
  EXPECT_TRUE(engine.requests().empty());
}

TEST(EngineClient, OnlySocketsOfThisMachine) {
  for (const char* address : {"tcp://127.0.0.1:2375", "http://x", "", "docker.sock", "ssh://me@there"}) {
    const auto client = ClientAt(address);
    EXPECT_TRUE(absl::IsInvalidArgument(client.status())) << address;
    EXPECT_THAT(std::string(Message(client.status())), HasSubstr("expected a Unix socket"));
  }
  EXPECT_TRUE(absl::IsInvalidArgument(SocketPathOf("/" + std::string(107, 'x')).status()));
  EXPECT_EQ(*SocketPathOf("unix:///run/docker.sock"), "/run/docker.sock");
}

}  // namespace
}  // namespace taut::node
