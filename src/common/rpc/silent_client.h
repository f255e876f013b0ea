// For tests: clients that connect to a gRPC port and make no call.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

namespace taut {

// Connects from the address `from` to 127.0.0.1.
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

  // Sends the HTTP/2 preface and empty settings: for gRPC the connection is then established.
  void SendPreface() const {
    constexpr std::string_view kPreface("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
    EXPECT_EQ(send(fd_, kPreface.data(), kPreface.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(kPreface.size()));
  }
  // Returns true if the server has closed the connection. Discards bytes that the server sent, such as its
  // settings.
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
using SilentClients = std::vector<std::unique_ptr<SilentClient>>;

inline SilentClients ConnectPrefaces(const char* from, int port, int n) {
  SilentClients out;
  for (int i = 0; i < n; ++i) {
    out.push_back(std::make_unique<SilentClient>(from, port));
    out.back()->SendPreface();
  }
  return out;
}

}  // namespace taut
