// Tests a server and its agents over loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>
#include <map>
#include <set>

#include "common/rpc/tls_fixture.h"
#include "server/agents/tcp_relay.h"
#include "server/agents/wire_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class WireTest : public testing::Test {
 protected:
  void StartServer(AgentServerOptions options = AnyPort()) {
    auto server = AgentServer::Start(options, &recorder_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(*server);
  }
  static std::unique_ptr<node::Uplink> Connect(const node::UplinkOptions& options) {
    auto uplink = node::ConnectUplink(options);
    EXPECT_TRUE(uplink.ok()) << uplink.status();
    return uplink.ok() ? std::move(*uplink) : nullptr;
  }
  void AckEverything() {
    recorder_.set_answer([this](SessionId session, const v1::FromAgent& message) {
      if (message.sequence() > 0) server_->Send(session, AckOf(message.sequence()));
    });
  }
  static bool IsReadable(int fd) {
    pollfd p{fd, POLLIN, 0};
    return poll(&p, 1, 0) == 1;
  }

  Recorder recorder_;
  std::unique_ptr<AgentServer> server_;
};

TEST_F(WireTest, CarriesMessagesBothWaysInOrder) {
  StartServer();
  AckEverything();
  node::UplinkOptions options = To(server_->port(), "machine-7");
  options.hello.set_host("host-7");
  const auto uplink = Connect(options);
  ASSERT_TRUE(Eventually([&] { return uplink->TakeConnected(); }));
  EXPECT_FALSE(uplink->TakeConnected());
  EXPECT_TRUE(uplink->status().connected);
  ASSERT_EQ(recorder_.hellos().size(), 1U);
  const v1::FromAgent hello = recorder_.hellos()[0].message;
  EXPECT_EQ(hello.hello().agent(), "machine-7");
  EXPECT_EQ(hello.hello().host(), "host-7");
  EXPECT_NE(hello.hello().queue(), 0U);
  EXPECT_EQ(recorder_.who(), "");

  uplink->Send(Window(1), node::Keep::kUntilAcknowledged);
  uplink->Send(Beat(2), node::Keep::kNo);
  uplink->Send(Window(3), node::Keep::kUntilAcknowledged);
  uplink->Send(Beat(4), node::Keep::kNo);
  ASSERT_TRUE(Eventually([&] { return recorder_.messages().size() == 4; }));
  EXPECT_THAT(recorder_.sequences(), ElementsAre(1, 0, 2, 0));
  EXPECT_EQ(recorder_.messages()[0].message.windows().window(), 1);
  EXPECT_EQ(recorder_.messages()[3].message.heartbeat().tasks(), 4U);
  EXPECT_TRUE(Eventually([&] { return uplink->status().queued_messages == 0; }));

  uplink->Take();
  EXPECT_FALSE(IsReadable(uplink->wake_fd()));
  const SessionId session = recorder_.living().at(0);
  for (uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(server_->Send(session, OrderMessage(i)));
  std::vector<uint64_t> decisions;
  ASSERT_TRUE(Eventually([&] {
    for (const v1::ToAgent& m : uplink->Take()) decisions.push_back(m.orders().orders(0).decision());
    return decisions.size() == 100;
  }));
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(decisions[i], i);
  server_->Send(session, OrderMessage(1));
  EXPECT_TRUE(Eventually([&] { return IsReadable(uplink->wake_fd()); }));
}

TEST_F(WireTest, SendsAgainWhatWasNotAcknowledged) {
  StartServer();
  const int port = server_->port();
  const auto uplink = Connect(To(port));
  ASSERT_TRUE(Eventually([&] { return uplink->TakeConnected(); }));
  for (int i = 1; i <= 5; ++i) uplink->Send(Window(i), node::Keep::kUntilAcknowledged);
  ASSERT_TRUE(Eventually([&] { return recorder_.messages().size() == 5; }));
  const SessionId session = recorder_.living().at(0);
  EXPECT_EQ(uplink->status().queued_messages, 5U);
  server_->Send(session, AckOf(2));
  ASSERT_TRUE(Eventually([&] { return uplink->status().queued_messages == 3; }));
  server_->Stop();
  ASSERT_TRUE(Eventually([&] { return !uplink->status().connected; }));
  EXPECT_THAT(uplink->status().error, HasSubstr(StrCat("127.0.0.1:", port)));
  uplink->Send(Beat(1), node::Keep::kNo);  // no server runs yet
  uplink->Send(Window(6), node::Keep::kUntilAcknowledged);

  StartServer(AnyPort(port));
  ASSERT_TRUE(Eventually([&] { return uplink->TakeConnected(); }));
  uplink->Send(Beat(2), node::Keep::kNo);
  ASSERT_TRUE(Eventually([&] { return recorder_.messages().size() == 10; }));
  EXPECT_THAT(recorder_.sequences(), ElementsAre(1, 2, 3, 4, 5, 3, 4, 5, 6, 0));
  EXPECT_EQ(recorder_.messages()[9].message.heartbeat().tasks(), 2U);
  EXPECT_EQ(recorder_.hellos().at(1).message.hello().queued(), 4U);
  EXPECT_EQ(recorder_.hellos().at(1).message.hello().queue(),
            recorder_.hellos().at(0).message.hello().queue());
  EXPECT_EQ(uplink->status().connects, 2U);
  EXPECT_EQ(uplink->status().error, "");
}

TEST_F(WireTest, KeepsItsQueueOverARestartOfTheAgent) {
  const TempDir dir{TempDir::Where::kMemory};
  node::UplinkOptions options = To(1);  // no server listens
  options.queue_path = dir.File("queue");
  {
    const auto uplink = Connect(options);
    for (int i = 1; i <= 3; ++i) uplink->Send(Window(i), node::Keep::kUntilAcknowledged);
    EXPECT_EQ(node::ConnectUplink(options).status().code(), absl::StatusCode::kFailedPrecondition);
    ASSERT_TRUE(Eventually([&] { return !uplink->status().error.empty(); }));
    EXPECT_THAT(uplink->status().error, HasSubstr("Connection refused"));
  }
  StartServer();
  AckEverything();
  options.address = StrCat("127.0.0.1:", server_->port());
  const auto uplink = Connect(options);
  ASSERT_TRUE(Eventually([&] { return recorder_.messages().size() == 3; }));
  EXPECT_THAT(recorder_.sequences(), ElementsAre(1, 2, 3));
  EXPECT_EQ(recorder_.hellos()[0].message.hello().queued(), 3U);
  EXPECT_TRUE(Eventually([&] { return uplink->status().queued_messages == 0; }));
}

// Every kept message arrives in its order, however often the connection is cut.
TEST_F(WireTest, LosesNothingOverConnectionsThatAreCut) {
  StartServer();
  AckEverything();
  TcpRelay relay(server_->port());
  const TempDir dir{TempDir::Where::kMemory};
  node::UplinkOptions options = To(relay.port());
  options.queue_path = dir.File("queue");
  const auto uplink = Connect(options);
  constexpr int kCount = 2000;
  relay.CutAfter(7'000);
  for (int i = 1; i <= kCount; ++i) {
    uplink->Send(Window(i), node::Keep::kUntilAcknowledged);
    if (i % 10 == 0) usleep(500);
  }
  EXPECT_TRUE(Eventually([&] { return uplink->status().connects >= 5; }));
  relay.CutAfter(0);
  relay.Cut();
  ASSERT_TRUE(Eventually([&] { return uplink->status().queued_messages == 0; }));
  server_->Stop();
  uint64_t last = 0;
  SessionId session = 0;
  std::set<int32_t> windows;
  for (const Recorder::Seen& seen : recorder_.messages()) {
    EXPECT_TRUE(seen.session != session || seen.message.sequence() > last);
    EXPECT_LE(seen.message.sequence(), windows.size() + 1) << "none is passed over";
    session = seen.session;
    last = seen.message.sequence();
    EXPECT_EQ(static_cast<uint64_t>(seen.message.windows().window()), last);
    windows.insert(seen.message.windows().window());
  }
  EXPECT_EQ(windows.size(), static_cast<size_t>(kCount));
  EXPECT_EQ(recorder_.hellos().size(), recorder_.gone().size());
}

TEST_F(WireTest, NeedsTheRightToken) {
  AgentServerOptions server_options = AnyPort();
  server_options.tokens = {"0123456789abcdef"};
  StartServer(server_options);
  node::UplinkOptions options = To(server_->port());
  options.token = "0123456789abcdeX";
  {
    const auto uplink = Connect(options);
    ASSERT_TRUE(Eventually([&] { return !uplink->status().error.empty(); }));
    EXPECT_THAT(uplink->status().error, HasSubstr("authentication required"));
    EXPECT_FALSE(uplink->TakeConnected());
    EXPECT_EQ(uplink->status().connects, 0U);
  }
  options.token = server_options.tokens[0];
  const auto uplink = Connect(options);
  EXPECT_TRUE(Eventually([&] { return uplink->TakeConnected(); }));
}

class WireTlsTest : public WireTest {
 protected:
  static void SetUpTestSuite() { certificates_ = new Certificates; }
  static void TearDownTestSuite() { delete certificates_; }
  void SetUp() override {
    if (!certificates_->made()) GTEST_SKIP() << "the program openssl is not installed";
  }
  static AgentServerOptions Tls(const std::string& client_ca) {
    AgentServerOptions out = AnyPort();
    out.certificate_file = certificates_->File("server.pem");
    out.key_file = certificates_->File("server.key");
    if (!client_ca.empty()) out.client_ca_file = certificates_->File(client_ca + ".pem");
    return out;
  }
  node::UplinkOptions As(const std::string& name, const std::string& ca = "ca") const {
    node::UplinkOptions out = To(server_->port());
    out.tls = true;
    out.ca_file = certificates_->File(ca + ".pem");
    if (name.empty()) return out;
    out.certificate_file = certificates_->File(name + ".pem");
    out.key_file = certificates_->File(name + ".key");
    return out;
  }
  // Returns the error of connecting, or "" if the connection succeeds.
  static std::string ErrorOf(const node::UplinkOptions& options) {
    const auto uplink = Connect(options);
    const bool over =
        Eventually([&] { return uplink->status().connected || !uplink->status().error.empty(); });
    return !over ? "nothing" : uplink->status().connected ? "" : uplink->status().error;
  }
  static Certificates* certificates_;
};
Certificates* WireTlsTest::certificates_ = nullptr;

TEST_F(WireTlsTest, SpeaksTls) {
  StartServer(Tls(""));
  EXPECT_EQ(ErrorOf(As("")), "");
  EXPECT_EQ(recorder_.who(), "");
  EXPECT_NE(ErrorOf(As("", "other")), "") << "a server of another CA";
  node::UplinkOptions options = As("");
  options.server_name = "localhost";
  EXPECT_EQ(ErrorOf(options), "");
  options.server_name = "elsewhere.example";
  EXPECT_NE(ErrorOf(options), "");
  EXPECT_NE(ErrorOf(To(server_->port())), "") << "plain text";
  EXPECT_EQ(recorder_.hellos().size(), 2U);
}

TEST_F(WireTlsTest, KnowsAgentsByTheirCertificates) {
  StartServer(Tls("ca"));
  EXPECT_EQ(ErrorOf(As("client")), "");
  EXPECT_EQ(recorder_.who(), "client\nclient.example");
  EXPECT_NE(ErrorOf(As("")), "");
  EXPECT_NE(ErrorOf(As("stranger")), "");
  EXPECT_EQ(recorder_.hellos().size(), 1U);
}

TEST_F(WireTlsTest, TellsBadFilesAtOnce) {
  StartServer(Tls(""));
  node::UplinkOptions options = As("client");
  options.key_file = certificates_->File("stranger.key");
  EXPECT_THAT(Message(node::ConnectUplink(options).status()), HasSubstr("key values mismatch"));
  options.key_file = "";
  EXPECT_THAT(Message(node::ConnectUplink(options).status()), HasSubstr("key is missing"));
  options = As("");
  options.ca_file = "/nowhere.pem";
  EXPECT_THAT(Message(node::ConnectUplink(options).status()), HasSubstr("/nowhere.pem"));
}

TEST_F(WireTest, TellsBadOptionsAtOnce) {
  for (const char* address : {"", "host", ":1", "host:"}) {
    node::UplinkOptions options = To(1);
    options.address = address;
    EXPECT_THAT(Message(node::ConnectUplink(options).status()), HasSubstr("HOST:PORT")) << address;
  }
  EXPECT_THAT(Message(node::ConnectUplink(To(1, "")).status()), HasSubstr("agent is empty"));
  node::UplinkOptions options = To(1);
  options.min_backoff_ms = 0;
  EXPECT_THAT(Message(node::ConnectUplink(options).status()), HasSubstr("backoff"));
}

TEST_F(WireTest, DoesNotSendWhatTheDaemonWouldRefuse) {
  StartServer();
  const auto uplink = Connect(To(server_->port()));
  ASSERT_TRUE(Eventually([&] { return uplink->TakeConnected(); }));
  uplink->Send(Window(-1), node::Keep::kUntilAcknowledged);
  EXPECT_EQ(uplink->status().refused, 1U);
  EXPECT_THAT(uplink->status().refusal, HasSubstr("before 1970"));
  // Each of these messages would end the stream.
  v1::FromAgent bytes;
  bytes.mutable_oom()->mutable_name()->set_job("\xFF");
  uplink->Send(bytes, node::Keep::kUntilAcknowledged);
  v1::FromAgent big;
  big.mutable_oom()->mutable_name()->set_job(std::string(17 << 20, 'x'));
  uplink->Send(big, node::Keep::kUntilAcknowledged);
  EXPECT_THAT(uplink->status().refusal, HasSubstr("bytes"));
  uplink->Send(Window(1), node::Keep::kUntilAcknowledged);
  ASSERT_TRUE(Eventually([&] { return recorder_.messages().size() == 1; }));
  EXPECT_THAT(recorder_.sequences(), ElementsAre(1));
  EXPECT_EQ(uplink->status().refused, 3U);
  EXPECT_EQ(uplink->status().connects, 1U);
}

TEST_F(WireTest, AnAgentThatTakesNothingIsCutOffAndComesBack) {
  AgentServerOptions server_options = AnyPort();
  server_options.max_waiting_bytes = 4 << 20;
  StartServer(server_options);
  const auto uplink = Connect(To(server_->port()));
  ASSERT_TRUE(Eventually([&] { return uplink->TakeConnected(); }));
  v1::ToAgent big;
  big.mutable_orders()->add_terms()->set_job(std::string(1'000'000, 'x'));
  const SessionId session = recorder_.living().at(0);
  // The uplink holds at most 16 MiB, the server's queue 4 MiB.
  const auto is_cut_off = [&] { return !server_->Send(session, big); };
  for (int i = 0; i < 1000 && !is_cut_off(); ++i) usleep(2000);
  EXPECT_EQ(server_->counts().cut_off, 1U);
  const size_t got = uplink->Take().size();
  EXPECT_LE(got, 18U);
  EXPECT_TRUE(Eventually([&] {
    uplink->Take();
    return uplink->TakeConnected();
  }));
}

TEST_F(WireTest, FlushHandsEverythingOver) {
  StartServer();
  {
    const auto uplink = Connect(To(server_->port()));
    uplink->Flush(10'000);  // the queue is empty
    for (int i = 1; i <= 200; ++i) uplink->Send(Window(i), node::Keep::kUntilAcknowledged);
    uplink->Flush(10'000);
  }
  EXPECT_TRUE(Eventually([&] { return recorder_.messages().size() == 200; }));
  EXPECT_TRUE(Eventually([&] { return recorder_.gone().size() == 1; }));
  const auto nobody = Connect(To(1));
  nobody->Send(Window(1), node::Keep::kUntilAcknowledged);
  nobody->Flush(20);
  EXPECT_EQ(nobody->status().queued_messages, 1U);
}

TEST_F(WireTest, TwoHundredAgentsInOneProcess) {
  StartServer();
  AckEverything();
  constexpr int kAgents = 200;
  std::vector<std::unique_ptr<node::Uplink>> uplinks;
  for (int i = 0; i < kAgents; ++i) uplinks.push_back(Connect(To(server_->port(), StrCat("agent ", i))));
  for (int round = 1; round <= 5; ++round) {
    for (const auto& uplink : uplinks) uplink->Send(Window(round), node::Keep::kUntilAcknowledged);
  }
  for (const auto& uplink : uplinks) {
    ASSERT_TRUE(Eventually([&] { return uplink->status().queued_messages == 0; }));
    EXPECT_TRUE(uplink->TakeConnected());
  }
  EXPECT_EQ(server_->counts().sessions, static_cast<uint64_t>(kAgents));
  std::map<SessionId, std::vector<uint64_t>> sequences;
  for (const Recorder::Seen& seen : recorder_.messages()) {
    sequences[seen.session].push_back(seen.message.sequence());
  }
  EXPECT_EQ(sequences.size(), static_cast<size_t>(kAgents));
  for (const auto& entry : sequences) EXPECT_THAT(entry.second, ElementsAre(1, 2, 3, 4, 5));
  const auto tasks = std::filesystem::directory_iterator("/proc/self/task");
  EXPECT_LT(std::distance(std::filesystem::begin(tasks), std::filesystem::end(tasks)), 40)
      << "threads are shared by all";
  // The remaining uplinks lose the server while others are destroyed.
  uplinks.resize(kAgents / 2);
  server_->Stop();
  EXPECT_EQ(recorder_.gone().size(), static_cast<size_t>(kAgents));
}

// Regression test: an uplink that was destroyed while a connection attempt failed used the attempt's deleted
// stream.
TEST_F(WireTest, UplinksMayGoWhileAttemptsFail) {
  for (int round = 0; round < 4; ++round) {
    std::vector<std::unique_ptr<node::Uplink>> uplinks;
    for (int i = 0; i < 50; ++i) {
      node::UplinkOptions options = To(1);
      options.min_backoff_ms = options.max_backoff_ms = 1;
      uplinks.push_back(Connect(options));
    }
    usleep(static_cast<useconds_t>(round * 5000));
    uplinks.clear();
  }
}

TEST_F(WireTest, UplinksMayGoAtAnyTime) {
  StartServer();
  for (int i = 0; i < 50; ++i) {
    const auto uplink = Connect(To(i % 2 == 0 ? server_->port() : 1));
    uplink->Send(Window(1), node::Keep::kUntilAcknowledged);
    usleep(static_cast<useconds_t>(i * 100));
  }
  server_->Stop();
  EXPECT_EQ(recorder_.gone().size(), recorder_.hellos().size());
}

}  // namespace
}  // namespace taut::server
