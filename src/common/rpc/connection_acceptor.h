// Listens, accepts and hands connections on, within bounds in all and for each address: gRPC itself takes
// every connection until the process has no descriptor left.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/net/server_options.h"

namespace taut {

struct AcceptorOptions {
  size_t max_connections = 10'000;
  size_t max_per_address = 4'000;
};

// What of `wanted` a process with this limit of open files can afford: half of it in all, and of that three
// quarters for one address.
AcceptorOptions BoundedByDescriptors(AcceptorOptions wanted, uint64_t descriptors);

// Connections that were handed on and are still open. Their owner closes them without notice, so what is
// counted is looked at: a descriptor with another inode is another file. Thread-safe.
class OpenConnections {
 public:
  using Address = std::array<uint8_t, 16>;  // IPv4 as in IPv6
  struct Peer {
    Address address{};
    uint16_t port = 0;

    auto operator<=>(const Peer&) const = default;
  };
  // As gRPC names it: "ipv4:127.0.0.1:40404", "ipv6:[::1]:40404" or "ipv6:%5B::1%5D:40404". nullopt: another kind.
  static std::optional<Peer> ParsePeer(std::string_view text);

  explicit OpenConnections(const AcceptorOptions& options) : options_(options) {}

  // May one more come from there? Looks at those there are when a bound is met, at most every 100 ms.
  bool HasRoom(const Address& address, int64_t now_ms);
  // One without an authenticated call makes room for one more from there (SilentConnection): it is shut down, as
  // its owner notices. False: there is none, and no room.
  bool Displace(const Address& address);
  void Add(const Peer& peer, int fd, int64_t now_ms);
  // A call of this connection was authenticated: it is not displaced.
  void Know(const Peer& peer);
  void Sweep();
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return size_;
  }

 private:
  struct Open {
    int fd = -1;
    uint64_t inode = 0;
    int64_t since_ms = 0;
    bool is_known = false;
  };
  using OfAddress = std::map<uint16_t, Open>;  // by port
  // These REQUIRE mutex_.
  bool IsFull(const Address& address) const;
  void SweepAll();

  const AcceptorOptions options_;
  mutable std::mutex mutex_;
  std::map<Address, OfAddress> by_address_;
  size_t size_ = 0;
  int64_t swept_ms_ = -1000;
};

class ConnectionAcceptor {
 public:
  // Takes both: the connection is its own from then on. From the acceptor's thread.
  using OnAccept = std::function<void(int listener_fd, int fd)>;

  // Binds and listens; Unavailable naming the address if it cannot.
  static absl::StatusOr<std::unique_ptr<ConnectionAcceptor>> Listen(
      const std::vector<ListenAddress>& addresses, const AcceptorOptions& options);
  ~ConnectionAcceptor();  // Stop()

  void Run(OnAccept on_accept);
  // No more connections; those there are go on.
  void Stop();
  // Of the first address.
  int port() const { return port_; }
  uint64_t accepted() const { return accepted_.load(); }  // handed on
  // Closed because a bound was reached: new ones, and those that made room for new ones.
  uint64_t rejected() const { return rejected_.load(); }
  // As OpenConnections::Know, with the peer's name as gRPC has it. Thread-safe.
  void Know(std::string_view peer);

 private:
  explicit ConnectionAcceptor(const AcceptorOptions& options) : open_(options) {}
  void Loop();
  void AcceptAll(int listener);

  std::vector<int> listeners_;
  int stop_fd_ = -1;
  int port_ = 0;
  OnAccept on_accept_;
  OpenConnections open_;
  std::atomic<uint64_t> accepted_{0}, rejected_{0};
  std::thread thread_;
};

}  // namespace taut
