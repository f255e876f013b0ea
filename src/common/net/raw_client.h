// For tests: a client that sends exactly the bytes that the test passes.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace taut {

class RawClient {
 public:
  // kSmall sets a small receive buffer, so that a server cannot send much before the client reads.
  enum class Buffer : uint8_t { kUsual, kSmall };
  enum class Connect : uint8_t { kNow, kLater };
  // `from` is the local address, such as 127.0.0.9; "" for any.
  explicit RawClient(uint16_t port, Buffer buffer = Buffer::kUsual, const char* from = "",
                     Connect when = Connect::kNow)
      : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval timeout{20, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
    const int small = 4096;
    if (buffer == Buffer::kSmall) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    if (*from != '\0') {
      sockaddr_in own{};
      own.sin_family = AF_INET;
      inet_pton(AF_INET, from, &own.sin_addr);
      EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof(own)), 0);
    }
    if (when == Connect::kNow) ConnectTo(port);
  }
  void ConnectTo(uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  ~RawClient() { close(fd_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // Sends the bytes. Returns false if the server does not accept all bytes.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  void HalfClose() { shutdown(fd_, SHUT_WR); }

  // Returns the received text up to and including `end`, or all text until the server closes the connection.
  std::string ReadUntil(std::string_view end) {
    while (true) {
      const size_t at = read_.find(end);
      if (at != std::string::npos) return Cut(at + end.size());
      char piece[16384];
      const ssize_t got = recv(fd_, piece, sizeof(piece), 0);
      if (got <= 0) return Cut(read_.size());
      read_.append(piece, static_cast<size_t>(got));
    }
  }
  std::string ReadToEnd() { return ReadUntil("\x01 never sent \x02"); }
  // Returns head and body of one response with a Content-Length.
  std::string ReadAnswer() {
    std::string out = ReadUntil("\r\n\r\n");
    const size_t at = out.find("Content-Length: ");
    size_t length = at == std::string::npos ? 0 : std::strtoul(out.c_str() + at + 16, nullptr, 10);
    while (read_.size() < length) {
      char piece[16384];
      const ssize_t got = recv(fd_, piece, sizeof(piece), 0);
      if (got <= 0) break;
      read_.append(piece, static_cast<size_t>(got));
    }
    return out + Cut(std::min(length, read_.size()));
  }

 private:
  std::string Cut(size_t bytes) {
    std::string out = read_.substr(0, bytes);
    read_.erase(0, bytes);
    return out;
  }

  const int fd_;
  std::string read_;
};

}  // namespace taut
