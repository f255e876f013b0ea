// Listens, accepts connections and passes them on, with bounds in total and per peer address. gRPC itself
// accepts until the process has no descriptor left.
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

// Reduces `wanted` to the process's limit of open files (`descriptors`): to half of this limit in total, and to
// three quarters of the half for one address.
AcceptorOptions BoundedByDescriptors(AcceptorOptions wanted, uint64_t descriptors);

// Connections that were passed on and are still open. Their owner closes connections without notice. Sweep
// recognises a closed connection by its descriptor, which is closed or has another inode. Thread-safe.
class OpenConnections {
 public:
  using Address = std::array<uint8_t, 16>;  // an IPv4 address is mapped into IPv6
  struct Peer {
    Address address{};
    uint16_t port = 0;

    auto operator<=>(const Peer&) const = default;
  };
  // Parses a peer as gRPC writes it: "ipv4:127.0.0.1:40404", "ipv6:[::1]:40404" or "ipv6:%5B::1%5D:40404".
  // nullopt for other kinds.
  static std::optional<Peer> ParsePeer(std::string_view text);

  explicit OpenConnections(const AcceptorOptions& options) : options_(options) {}

  // Returns true if one more connection from this address fits. When a bound is met, HasRoom calls Sweep
  // first, at most every 100 ms. O(connections) then, else O(log addresses).
  bool HasRoom(const Address& address, int64_t now_ms);
  // Shuts down one connection without an authenticated call, chosen by GoesBefore(SilentConnection), to make
  // room for a connection from `address`. The owner then detects the end of the connection. Returns false if
  // no room can be made. O(connections).
  bool Displace(const Address& address);
  // Adds a connection. The object does not own `fd`.
  void Add(const Peer& peer, int fd, int64_t now_ms);
  // Marks a connection after an authenticated call: a marked connection is never displaced.
  void Know(const Peer& peer);
  // Removes the connections that their owner has closed. One fstat per connection.
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
  using OfAddress = std::map<uint16_t, Open>;  // keyed by the peer's port
  // The caller of the following methods must hold mutex_.
  bool IsFull(const Address& address) const;
  void SweepAll();

  const AcceptorOptions options_;
  mutable std::mutex mutex_;
  std::map<Address, OfAddress> by_address_;
  size_t size_ = 0;
  int64_t swept_ms_ = -1000;
};

// Listening sockets with one thread that accepts.
class ConnectionAcceptor {
 public:
  // Receives the ownership of `fd`, which is non-blocking. Called from the acceptor's thread.
  using OnAccept = std::function<void(int listener_fd, int fd)>;

  // Binds and listens without accepting. Returns Unavailable with the address if an address cannot be bound, and
  // ResourceExhausted if no descriptor is free.
  static absl::StatusOr<std::unique_ptr<ConnectionAcceptor>> Listen(
      const std::vector<ListenAddress>& addresses, const AcceptorOptions& options);
  ~ConnectionAcceptor();

  // Starts the thread that accepts. Call once.
  void Run(OnAccept on_accept);
  // Ends the thread and closes the listeners. Connections that were passed on stay open.
  void Stop();
  // Port of the first address; 0 without addresses.
  int port() const { return port_; }
  uint64_t accepted() const { return accepted_.load(); }  // number of connections passed on
  // Number of connections that exceeded a bound. Each of these connections was closed, or displaced an older one.
  uint64_t rejected() const { return rejected_.load(); }
  // Calls OpenConnections::Know for a peer as gRPC writes it. Thread-safe.
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
