// Nobody takes all connections: bounds in all and for each address, and what says nothing is closed.
#include "wire/connection_gate.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/wire_fixture.h"

namespace taut {
namespace {

// A client of `from` that connects and says nothing.
class SilentClient {
 public:
  SilentClient(const char* from, int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in own{}, to{};
    own.sin_family = to.sin_family = AF_INET;
    inet_pton(AF_INET, from, &own.sin_addr);
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    to.sin_port = htons(static_cast<uint16_t>(port));
    bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof(own));
    EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
  }
  ~SilentClient() { close(fd_); }
  SilentClient(const SilentClient&) = delete;
  SilentClient& operator=(const SilentClient&) = delete;

  // Did the server close it? Bytes that it sends first (its settings) are read over.
  bool IsClosed() const {
    char buffer[256];
    for (;;) {
      const ssize_t n = recv(fd_, buffer, sizeof(buffer), MSG_DONTWAIT);
      if (n > 0) continue;
      return n == 0 || errno != EAGAIN;
    }
  }

 private:
  int fd_;
};
using Clients = std::vector<std::unique_ptr<SilentClient>>;

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
  open.Add(a, pairs[0][0]);
  open.Add(a, pairs[1][0]);
  EXPECT_FALSE(open.HasRoom(a, 0)) << "of one address";
  EXPECT_TRUE(open.HasRoom(b, 0));
  open.Add(b, pairs[2][0]);
  EXPECT_FALSE(open.HasRoom(OpenConnections::Address{3}, 1000)) << "in all";
  // Whoever had it has closed it, and the descriptor is another file now.
  close(pairs[0][0]);
  const int other = dup(pairs[2][1]);
  EXPECT_EQ(other, pairs[0][0]);
  EXPECT_FALSE(open.HasRoom(a, 1050)) << "looked at not long ago";
  EXPECT_TRUE(open.HasRoom(a, 2000));
  EXPECT_EQ(open.size(), 2U);
  for (auto& pair : pairs) close(pair[0]), close(pair[1]);
}

TEST(OpenConnections, AreBoundedByDescriptors) {
  const GateOptions few = BoundedByDescriptors({.max_connections = 10'000, .max_per_address = 4'000}, 1024);
  EXPECT_EQ(few.max_connections, 512U);
  EXPECT_EQ(few.max_per_address, 384U);
  const GateOptions many =
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
  EXPECT_EQ((*server)->counts().connections, 20U);
  auto uplink = ConnectUplink(To((*server)->port()));
  ASSERT_TRUE(uplink.ok()) << uplink.status();
  EXPECT_TRUE(Eventually([&] { return (*uplink)->status().connected; }));
}

TEST(ConnectionBounds, SilentConnectionsMakeRoomAgain) {
  Recorder recorder;
  AgentServerOptions options = AnyPort();
  options.max_connections = 30;
  options.idle_timeout_ms = 300;
  auto server = AgentServer::Start(options, &recorder);
  ASSERT_TRUE(server.ok()) << server.status();
  const Clients clients = Connect("127.0.0.1", (*server)->port(), 60);
  auto uplink = ConnectUplink(To((*server)->port()));
  ASSERT_TRUE(uplink.ok()) << uplink.status();
  EXPECT_TRUE(Eventually([&] { return (*uplink)->status().connected; }));
  EXPECT_TRUE(Eventually([&] { return Closed(clients) == clients.size(); }));
  EXPECT_TRUE((*uplink)->status().connected) << "one with a stream stays";
}

}  // namespace
}  // namespace taut
