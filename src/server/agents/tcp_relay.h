// A relay between an agent and a server, which cuts connections without closing the stream. For tests.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

namespace taut::server {

class TcpRelay {
 public:
  explicit TcpRelay(int to_port) : to_port_(to_port) {
    listening_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof(address);
    bind(listening_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    listen(listening_, 16);
    getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~TcpRelay() {
    stop_.store(true);
    thread_.join();
    close(listening_);
  }
  TcpRelay(const TcpRelay&) = delete;
  TcpRelay& operator=(const TcpRelay&) = delete;

  int port() const { return port_; }
  // Cuts all present connections.
  void Cut() { cut_.store(true); }
  // Cuts each connection once it has transferred this number of bytes to the server; 0: never.
  void CutAfter(long bytes) { cut_after_.store(bytes); }

 private:
  struct Pair {
    int agent, server;
    long bytes = 0;
  };
  static sockaddr_in Loopback(int port) {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    out.sin_port = htons(static_cast<uint16_t>(port));
    return out;
  }

  void Run() {
    while (!stop_.load()) {
      std::vector<pollfd> fds = {{listening_, POLLIN, 0}};
      for (const Pair& pair : pairs_) {
        fds.push_back({pair.agent, POLLIN, 0});
        fds.push_back({pair.server, POLLIN, 0});
      }
      poll(fds.data(), fds.size(), 5);
      const bool all = cut_.exchange(false);
      const long most = cut_after_.load();
      for (size_t i = pairs_.size(); i-- > 0;) {
        const bool goes_on = Move(fds[2 * i + 1], pairs_[i].server, &pairs_[i].bytes) &&
                             Move(fds[2 * i + 2], pairs_[i].agent, nullptr);
        if (goes_on && !all && (most == 0 || pairs_[i].bytes < most)) continue;
        Reset(pairs_[i]);
        pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (fds[0].revents != 0) Accept();
    }
    for (const Pair& pair : pairs_) Reset(pair);
  }

  static bool Move(const pollfd& from, int to, long* bytes) {
    if (from.revents == 0) return true;
    std::array<char, 4096> buffer;
    const ssize_t n = recv(from.fd, buffer.data(), buffer.size(), 0);
    if (n <= 0) return false;
    if (bytes != nullptr) *bytes += n;
    return send(to, buffer.data(), static_cast<size_t>(n), MSG_NOSIGNAL) == n;
  }

  void Accept() {
    const int agent = accept(listening_, nullptr, nullptr);
    if (agent < 0) return;
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = Loopback(to_port_);
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      close(server);
      close(agent);
      return;
    }
    pairs_.push_back({agent, server});
  }

  static void Reset(const Pair& pair) {
    const linger now{1, 0};
    for (const int fd : {pair.agent, pair.server}) {
      setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
      close(fd);
    }
  }

  const int to_port_;
  int listening_ = -1;
  int port_ = 0;
  std::vector<Pair> pairs_;
  std::atomic<bool> stop_{false}, cut_{false};
  std::atomic<long> cut_after_{0};
  std::thread thread_;
};

}  // namespace taut::server
