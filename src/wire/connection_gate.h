// Listens, accepts and hands connections on, within bounds in all and for each address: gRPC itself takes
// every connection until the process has no descriptor left.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "net/server_options.h"

namespace taut {

struct GateOptions {
  size_t max_connections = 10'000;
  size_t max_per_address = 4'000;
};

// What of `wanted` a process with this limit of open files can afford: half of it in all, and of that three
// quarters for one address.
GateOptions BoundedByDescriptors(GateOptions wanted, uint64_t descriptors);

// Connections that were handed on and are still open. Their owner closes them without notice, so what is
// counted is looked at: a descriptor with another inode is another file. Not thread-safe.
class OpenConnections {
 public:
  using Address = std::array<uint8_t, 16>;  // IPv4 as in IPv6
  explicit OpenConnections(const GateOptions& options) : options_(options) {}

  // May one more come from there? Looks at those there are when a bound is met, at most every 100 ms.
  bool HasRoom(const Address& address, int64_t now_ms);
  void Add(const Address& address, int fd);
  void Sweep();
  size_t size() const { return size_; }

 private:
  struct Open {
    int fd;
    uint64_t inode;
  };
  bool IsFull(const Address& address) const;

  const GateOptions options_;
  std::map<Address, std::vector<Open>> by_address_;
  size_t size_ = 0;
  int64_t swept_ms_ = -1000;
};

class ConnectionGate {
 public:
  // Takes both: the connection is its own from then on. From the gate's thread.
  using OnAccept = std::function<void(int listener_fd, int fd)>;

  // Binds and listens; Unavailable naming the address if it cannot.
  static absl::StatusOr<std::unique_ptr<ConnectionGate>> Listen(const std::vector<ListenAddress>& addresses,
                                                                const GateOptions& options);
  ~ConnectionGate();  // Stop()

  void Run(OnAccept on_accept);
  // No more connections; those there are go on.
  void Stop();
  // Of the first address.
  int port() const { return port_; }
  uint64_t accepted() const { return accepted_.load(); }  // handed on
  uint64_t rejected() const { return rejected_.load(); }

 private:
  explicit ConnectionGate(const GateOptions& options) : open_(options) {}
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
