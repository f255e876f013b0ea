// A server and its agents over loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "wire/wire_fixture.h"

namespace taut {
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
  static std::unique_ptr<Uplink> Connect(const UplinkOptions& options) {
    auto uplink = ConnectUplink(options);
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
  UplinkOptions options = To(server_->port(), "machine-7");
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

  uplink->Send(Window(1), Keep::kUntilAcknowledged);
  uplink->Send(Beat(2), Keep::kNo);
  uplink->Send(Window(3), Keep::kUntilAcknowledged);
  uplink->Send(Beat(4), Keep::kNo);
  ASSERT_TRUE(Eventually([&] { return recorder_.messages().size() == 4; }));
  EXPECT_THAT(recorder_.sequences(), ElementsAre(1, 0, 2, 0));
  EXPECT_EQ(recorder_.messages()[0].message.windows().window(), 1);
  EXPECT_EQ(recorder_.messages()[3].message.heartbeat().tasks(), 4U);
  EXPECT_TRUE(Eventually([&] { return uplink->status().queued_messages == 0; }));

  uplink->Take();
  EXPECT_FALSE(IsReadable(uplink->wake_fd()));
  const SessionId session = recorder_.living().at(0);
  for (uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(server_->Send(session, OrderOf(i)));
  std::vector<uint64_t> decisions;
  ASSERT_TRUE(Eventually([&] {
    for (const v1::ToAgent& m : uplink->Take()) decisions.push_back(m.orders().orders(0).decision());
    return decisions.size() == 100;
  }));
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(decisions[i], i);
  server_->Send(session, OrderOf(1));
  EXPECT_TRUE(Eventually([&] { return IsReadable(uplink->wake_fd()); }));
}

}  // namespace
}  // namespace taut
