// Tests that no client can use all connections: there are bounds in total and for each address, and silent
// connections are closed.
#include "common/rpc/connection_acceptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/rpc/silent_client.h"
#include "server/agents/wire_fixture.h"

namespace taut::server {
namespace {

using Clients = SilentClients;

size_t Closed(const Clients& clients) {
  return static_cast<size_t>(
      std::count_if(clients.begin(), clients.end(), [](const auto& c) { return c->IsClosed(); }));
}

Clients Connect(const char* from, int port, int n) {
  Clients out;
  for (int i = 0; i < n; ++i) out.push_back(std::make_unique<SilentClient>(from, port));
  return out;
}

TEST(OpenConnections, CountsWhatIsStillOpen) {
  OpenConnections open({.max_connections = 3, .max_per_address = 2});
  const OpenConnections::Address a{1}, b{2};
  int pairs[3][2];
  for (auto& pair : pairs) ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  EXPECT_TRUE(open.HasRoom(a, 0));
  open.Add({a, 1}, pairs[0][0], 0);
  open.Add({a, 2}, pairs[1][0], 0);
  EXPECT_FALSE(open.HasRoom(a, 0)) << "of one address";
  EXPECT_TRUE(open.HasRoom(b, 0));
  open.Add({b, 1}, pairs[2][0], 0);
  EXPECT_FALSE(open.HasRoom(OpenConnections::Address{3}, 1000)) << "in all";
  // The client has closed the connection, and the descriptor now belongs to another file.
  close(pairs[0][0]);
  const int other = dup(pairs[2][1]);
  EXPECT_EQ(other, pairs[0][0]);
  EXPECT_FALSE(open.HasRoom(a, 1050)) << "looked at not long ago";
  EXPECT_TRUE(open.HasRoom(a, 2000));
  EXPECT_EQ(open.size(), 2U);
  for (auto& pair : pairs) close(pair[0]), close(pair[1]);
}

TEST(OpenConnections, TheOldestThatNeverCalledMakesRoom) {
  OpenConnections open({.max_connections = 4, .max_per_address = 3});
  const OpenConnections::Address a{1}, b{2};
  int pairs[5][2];
  for (auto& pair : pairs) ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const auto is_shut = [&](int i) {
    char byte;
    return recv(pairs[i][1], &byte, 1, MSG_DONTWAIT) == 0;
  };
  open.Add({a, 1}, pairs[0][0], 10);
  open.Add({a, 2}, pairs[1][0], 20);
  open.Add({a, 3}, pairs[2][0], 30);
  open.Add({b, 1}, pairs[3][0], 1);
  open.Know({a, 1});
  open.Know({a, 7});
  ASSERT_FALSE(open.HasRoom(b, 1000));
  EXPECT_TRUE(open.Displace(b)) << "of the address with the most";
  EXPECT_TRUE(is_shut(1));
  EXPECT_FALSE(is_shut(0));
  EXPECT_FALSE(is_shut(3));
  EXPECT_EQ(open.size(), 3U);
  open.Add({b, 2}, pairs[4][0], 40);
  open.Know({b, 1});
  open.Know({b, 2});
  EXPECT_TRUE(open.Displace(a));
  EXPECT_TRUE(is_shut(2));
  open.Add({b, 3}, pairs[2][0], 50);
  open.Know({b, 3});
  EXPECT_FALSE(open.Displace(a)) << "all others have called";
  for (auto& pair : pairs) close(pair[0]), close(pair[1]);
}

TEST(OpenConnections, PeersAreNamedAsGrpcNamesThem) {
  const auto v4 = OpenConnections::ParsePeer("ipv4:127.0.0.1:40404");
  ASSERT_TRUE(v4.has_value());
  EXPECT_EQ(v4->port, 40404);
  EXPECT_EQ(v4->address, (OpenConnections::Address{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}));
  const auto v6 = OpenConnections::ParsePeer("ipv6:[::1]:1");
  EXPECT_TRUE(v6.has_value());
  EXPECT_EQ(v6, OpenConnections::ParsePeer("ipv6:%5B::1%5D:1"));
  for (const char* other :
       {"", "unix:/tmp/x", "ipv4:", "ipv4:1.2.3.4", "ipv4:1.2.3.4:99999", "ipv6:[::1]", "ipv4:x:1"})
    EXPECT_FALSE(OpenConnections::ParsePeer(other).has_value()) << other;
}

TEST(OpenConnections, AreBoundedByDescriptors) {
  const AcceptorOptions few =
      BoundedByDescriptors({.max_connections = 10'000, .max_per_address = 4'000}, 1024);
  EXPECT_EQ(few.max_connections, 512U);
  EXPECT_EQ(few.max_per_address, 384U);
  const AcceptorOptions many =
      BoundedByDescriptors({.max_connections = 10'000, .max_per_address = 4'000}, 1'000'000);
  EXPECT_EQ(many.max_connections, 10'000U);
  EXPECT_EQ(many.max_per_address, 4'000U);
}

TEST(ConnectionBounds, OneAddressDoesNotKeepOthersOut) {
  Recorder recorder;
  AgentServerOptions options = AnyPort();
  options.max_per_address = 20;
  auto server = AgentServer::Start(options, &recorder);
  ASSERT_TRUE(server.ok()) << server.status();
  const Clients clients = Connect("127.0.0.2", (*server)->port(), 60);
  EXPECT_TRUE(Eventually([&] { return (*server)->counts().rejected_connections == 40; }));
  EXPECT_TRUE(Eventually([&] { return Closed(clients) >= 40; })) << "the older made room for the newer";
  auto uplink = node::ConnectUplink(To((*server)->port()));
  ASSERT_TRUE(uplink.ok()) << uplink.status();
  EXPECT_TRUE(Eventually([&] { return (*uplink)->status().connected; }));
}

// Connections that sent only the preface do not keep agents out, and do not end the stream of a connected agent.
TEST(ConnectionBounds, PrefacesMakeRoomForAgents) {
  Recorder recorder;
  AgentServerOptions options = AnyPort();
  options.max_connections = 10;
  options.max_per_address = 10;
  auto server = AgentServer::Start(options, &recorder);
  ASSERT_TRUE(server.ok()) << server.status();
  auto first = node::ConnectUplink(To((*server)->port()));
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(Eventually([&] { return (*first)->status().connected; }));
  const Clients clients = ConnectPrefaces("127.0.0.1", (*server)->port(), 25);
  auto second = node::ConnectUplink(To((*server)->port()));
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(Eventually([&] { return (*second)->status().connected; }));
  EXPECT_TRUE((*first)->status().connected);
  EXPECT_GE(Closed(clients), 15U);
}

TEST(ConnectionBounds, SilentConnectionsMakeRoomAgain) {
  Recorder recorder;
  AgentServerOptions options = AnyPort();
  options.max_connections = 30;
  options.idle_timeout_ms = 300;
  auto server = AgentServer::Start(options, &recorder);
  ASSERT_TRUE(server.ok()) << server.status();
  const Clients clients = Connect("127.0.0.1", (*server)->port(), 60);
  auto uplink = node::ConnectUplink(To((*server)->port()));
  ASSERT_TRUE(uplink.ok()) << uplink.status();
  EXPECT_TRUE(Eventually([&] { return (*uplink)->status().connected; }));
  EXPECT_TRUE(Eventually([&] { return Closed(clients) == clients.size(); }));
  EXPECT_TRUE((*uplink)->status().connected) << "one with a stream stays";
}

}  // namespace
}  // namespace taut::server
