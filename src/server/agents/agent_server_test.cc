// Tests how the server responds to streams that the project's own uplink never sends.
#include "server/agents/agent_server.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <thread>

#include "agent.grpc.pb.h"
#include "common/rpc/tls_fixture.h"
#include "server/agents/wire_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// A stream that any client could open.
class RawAgent {
 public:
  explicit RawAgent(int port, const std::string& authorization = "") {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    channel_ =
        grpc::CreateCustomChannel(StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials(), arguments);
    stub_ = v1::Agents::NewStub(channel_);
    if (!authorization.empty()) context_.AddMetadata("authorization", authorization);
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    stream_ = stub_->Attend(&context_);
  }
  ~RawAgent() {
    context_.TryCancel();
    if (!is_over_) End();
  }
  RawAgent(const RawAgent&) = delete;
  RawAgent& operator=(const RawAgent&) = delete;

  bool Write(const v1::FromAgent& message) { return stream_->Write(message); }
  bool Read(v1::ToAgent* message) { return stream_->Read(message); }
  void Leave() { stream_->WritesDone(); }
  // Reads until the stream ends.
  grpc::Status End() {
    v1::ToAgent ignored;
    while (stream_->Read(&ignored)) continue;
    is_over_ = true;
    return stream_->Finish();
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Agents::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::FromAgent, v1::ToAgent>> stream_;
  bool is_over_ = false;
};

v1::FromAgent HelloOf(const std::string& name) {
  v1::FromAgent out;
  out.mutable_hello()->set_agent(name);
  return out;
}

class AgentServerTest : public testing::Test {
 protected:
  void StartServer(AgentServerOptions options = AnyPort()) {
    auto server = AgentServer::Start(options, &recorder_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(*server);
  }
  static absl::Status StatusOf(const AgentServerOptions& options) {
    Recorder recorder;
    return AgentServer::Start(options, &recorder).status();
  }
  Recorder recorder_;
  std::unique_ptr<AgentServer> server_;
};

TEST_F(AgentServerTest, WantsAHelloFirst) {
  StartServer();
  {
    RawAgent agent(server_->port());
    agent.Write(Window(1));
    const grpc::Status status = agent.End();
    EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), HasSubstr("must be a hello"));
  }
  {
    RawAgent agent(server_->port());
    agent.Write(HelloOf(""));
    EXPECT_THAT(agent.End().error_message(), HasSubstr("agent is empty"));
  }
  EXPECT_EQ(server_->counts().refused, 2U);
  EXPECT_EQ(recorder_.hellos().size(), 0U);
  EXPECT_EQ(recorder_.gone().size(), 0U) << "the listener is told only of those with a hello";
}

TEST_F(AgentServerTest, WantsTheHelloInTime) {
  AgentServerOptions options = AnyPort();
  options.hello_timeout_ms = 100;
  StartServer(options);
  std::unique_ptr<RawAgent> heard;
  const auto is_heard = [&] {
    heard = std::make_unique<RawAgent>(server_->port());
    heard->Write(HelloOf("heard"));
    v1::FromAgent beat = Beat(1);
    return Eventually([&] { return !heard->Write(beat) || !recorder_.living().empty(); }) &&
           !recorder_.living().empty();
  };
  // On a busy machine the hello may arrive after hello_timeout_ms: retry.
  for (int i = 0; i < 50 && !is_heard(); ++i) continue;
  RawAgent silent(server_->port());
  const grpc::Status status = silent.End();
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("no hello received in time"));
  EXPECT_TRUE(Eventually([&] { return server_->counts().sessions == 1; }));
  EXPECT_EQ(recorder_.living().size(), 1U);
}

TEST_F(AgentServerTest, RefusesBadMessagesAndGoesOn) {
  StartServer();
  RawAgent agent(server_->port());
  agent.Write(HelloOf("a"));
  v1::FromAgent bad = Window(-1);
  bad.set_sequence(7);
  agent.Write(bad);
  agent.Write(HelloOf("a"));
  agent.Write(v1::FromAgent());
  agent.Write(Beat(1));
  ASSERT_TRUE(Eventually([&] { return recorder_.messages().size() == 1; }));
  EXPECT_THAT(recorder_.refused(), ElementsAre(Pair(7, HasSubstr("window is before 1970")),
                                               Pair(0, HasSubstr("second")), Pair(0, HasSubstr("body"))));
  EXPECT_EQ(server_->counts().bad_messages, 3U);
  EXPECT_EQ(server_->counts().messages, 5U);
  agent.Leave();
  EXPECT_TRUE(agent.End().ok());
  EXPECT_TRUE(Eventually([&] { return recorder_.gone().size() == 1; }));
  EXPECT_EQ(server_->counts().sessions, 0U);
}

TEST_F(AgentServerTest, EndsAStreamWithAnOversizedMessage) {
  AgentServerOptions options = AnyPort();
  options.max_message_bytes = 1000;
  StartServer(options);
  RawAgent agent(server_->port());
  agent.Write(HelloOf("a"));
  v1::FromAgent message;
  message.mutable_oom()->mutable_name()->set_job(std::string(2000, 'x'));
  agent.Write(message);
  EXPECT_EQ(agent.End().error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(Eventually([&] { return recorder_.gone().size() == 1; }));
}

TEST_F(AgentServerTest, AsksForAToken) {
  AgentServerOptions options = AnyPort();
  options.tokens = {"0123456789abcdef", "fedcba9876543210"};
  StartServer(options);
  for (const char* wrong :
       {"", "Bearer", "Bearer 0123456789abcdeF", "Bearer 0123456789abcde", "0123456789abcdef"}) {
    RawAgent agent(server_->port(), wrong);
    const grpc::Status status = agent.End();
    EXPECT_EQ(status.error_code(), grpc::UNAUTHENTICATED) << wrong;
    EXPECT_THAT(status.error_message(), HasSubstr("authorization: Bearer TOKEN"));
  }
  EXPECT_EQ(server_->counts().refused, 5U);
  for (const std::string& token : options.tokens) {
    RawAgent agent(server_->port(), "Bearer " + token);
    agent.Write(HelloOf("a"));
    agent.Leave();
    EXPECT_TRUE(agent.End().ok());
  }
  EXPECT_EQ(server_->counts().accepted, 2U);
}

TEST_F(AgentServerTest, HasRoomForSoManyAndNoMore) {
  AgentServerOptions options = AnyPort();
  options.max_sessions = 2;
  StartServer(options);
  auto first = std::make_unique<RawAgent>(server_->port());
  first->Write(HelloOf("a"));
  RawAgent second(server_->port());
  second.Write(HelloOf("b"));
  ASSERT_TRUE(Eventually([&] { return recorder_.living().size() == 2; }));
  {
    RawAgent third(server_->port());
    const grpc::Status status = third.End();
    EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
    EXPECT_THAT(status.error_message(), HasSubstr("too many agents: 2 are connected"));
  }
  first.reset();
  ASSERT_TRUE(Eventually([&] { return server_->counts().sessions == 1; }));
  RawAgent third(server_->port());
  third.Write(HelloOf("c"));
  EXPECT_TRUE(Eventually([&] { return recorder_.living().size() == 2; }));
}

TEST_F(AgentServerTest, CutsOffWhoDoesNotRead) {
  AgentServerOptions options = AnyPort();
  options.max_waiting_bytes = 1 << 20;
  StartServer(options);
  RawAgent agent(server_->port());
  agent.Write(HelloOf("a"));
  RawAgent other(server_->port());
  other.Write(HelloOf("b"));
  ASSERT_TRUE(Eventually([&] { return recorder_.living().size() == 2; }));
  const SessionId slow = recorder_.hellos()[0].message.hello().agent() == "a" ? recorder_.hellos()[0].session
                                                                              : recorder_.hellos()[1].session;
  v1::ToAgent big;
  big.mutable_orders()->add_terms()->set_job(std::string(100'000, 'x'));
  int sent = 0;
  while (server_->Send(slow, big) && sent < 10'000) ++sent;
  EXPECT_LT(sent, 10'000);
  EXPECT_GE(sent, 10);
  EXPECT_EQ(server_->counts().cut_off, 1U);
  EXPECT_TRUE(Eventually([&] { return recorder_.gone().size() == 1; }));
  EXPECT_FALSE(server_->Send(slow, AckOf(1)));
  EXPECT_FALSE(agent.End().ok());
  EXPECT_EQ(recorder_.living().size(), 1U);
  EXPECT_TRUE(server_->Send(recorder_.living()[0], AckOf(1)));
}

TEST_F(AgentServerTest, ClosesASession) {
  StartServer();
  RawAgent agent(server_->port());
  agent.Write(HelloOf("a"));
  ASSERT_TRUE(Eventually([&] { return recorder_.living().size() == 1; }));
  const SessionId session = recorder_.living()[0];
  server_->Close(session);
  server_->Close(session);
  EXPECT_EQ(agent.End().error_code(), grpc::ABORTED);
  EXPECT_TRUE(Eventually([&] { return recorder_.gone().size() == 1; }));
  EXPECT_FALSE(server_->Send(session, AckOf(1)));
  server_->Close(session);
}

TEST_F(AgentServerTest, StopsWhileAgentsSend) {
  StartServer();
  recorder_.set_answer([this](SessionId session, const v1::FromAgent&) { server_->Send(session, AckOf(1)); });
  std::atomic<bool> go_on{true};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, &go_on, i] {
      RawAgent agent(server_->port());
      agent.Write(HelloOf(StrCat("agent ", i)));
      while (go_on.load() && agent.Write(Beat(1))) continue;
      EXPECT_FALSE(agent.End().ok());
    });
  }
  ASSERT_TRUE(Eventually([&] { return recorder_.messages().size() > 100; }));
  server_->Stop();
  EXPECT_EQ(recorder_.living().size(), 0U);
  EXPECT_EQ(recorder_.gone().size(), recorder_.hellos().size());
  const size_t count = recorder_.messages().size();
  go_on.store(false);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(recorder_.messages().size(), count);
  server_->Stop();
  EXPECT_EQ(server_->counts().sessions, 0U);
}

TEST_F(AgentServerTest, SaysWhyItDoesNotStart) {
  StartServer();
  EXPECT_THAT(Message(StatusOf(AnyPort(server_->port()))), HasSubstr("Address already in use"));
  AgentServerOptions options = AnyPort();
  options.listen = {"0.0.0.0:0"};
  EXPECT_THAT(Message(StatusOf(options)), HasSubstr("refusing to listen on 0.0.0.0"));
  options.listen = {"somewhere"};
  EXPECT_THAT(Message(StatusOf(options)), HasSubstr("expected ADDRESS:PORT"));
  options.listen = {};
  EXPECT_THAT(Message(StatusOf(options)), HasSubstr("no address"));
  options = AnyPort();
  options.tokens = {"short"};
  EXPECT_THAT(Message(StatusOf(options)), HasSubstr("a token has 5 characters"));
  options = AnyPort();
  options.certificate_file = "/nowhere.pem";
  EXPECT_THAT(Message(StatusOf(options)), HasSubstr("key is missing"));
  options.key_file = "/nowhere.key";
  EXPECT_THAT(Message(StatusOf(options)), HasSubstr("/nowhere.pem: No such file"));
}

TEST_F(AgentServerTest, LooksAtItsCertificates) {
  const Certificates certificates;
  if (!certificates.made()) GTEST_SKIP() << "the program openssl is not installed";
  AgentServerOptions options = AnyPort();
  options.certificate_file = certificates.File("server.pem");
  options.key_file = certificates.File("client.key");
  EXPECT_THAT(Message(StatusOf(options)), HasSubstr("client.key: key values mismatch"));
  options.key_file = certificates.File("server.ext");
  EXPECT_THAT(Message(StatusOf(options)), HasSubstr("cannot use the key in"));
  options.key_file = certificates.File("server.key");
  options.client_ca_file = certificates.File("server.ext");
  EXPECT_THAT(Message(StatusOf(options)), HasSubstr("cannot use the CA in"));
  options.client_ca_file = certificates.File("ca.pem");
}

}  // namespace
}  // namespace taut::server
