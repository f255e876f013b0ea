// Accepts connections and runs their I/O on a pool of threads.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "common/net/connection.h"
#include "common/net/server_options.h"

namespace taut {

// Owns the listening sockets, the threads and the TLS settings.
class Listener {
 public:
  struct Calls {
    // Called when a client was accepted, from any of the threads, sequentially for each listen address.
    std::function<void(std::unique_ptr<Connection>)> on_accept;
    // Called when accept() failed: out of descriptors or memory. The client stays in the kernel's queue and
    // is accepted later.
    std::function<void()> on_accept_failed = [] {};
    // Called every `tick_interval` on one of the threads.
    std::function<void()> on_tick;
    std::chrono::milliseconds tick_interval{100};
  };
  // Reads the TLS files and binds; accepts nothing before Run(). REQUIRES: options.Check() is OK. Returns
  // AlreadyExists if an address is in use, Unavailable if it cannot be bound for another reason, and
  // InvalidArgument for an unusable TLS file. Errors contain the address or file.
  static absl::StatusOr<std::unique_ptr<Listener>> Bind(const ServerOptions& options);
  // Calls Shut().
  ~Listener();

  // Starts the threads and accepts clients. Call once.
  void Run(Calls calls);
  // Reloads certificate, key and client CA for new connections. On error nothing changes. Cannot turn TLS on
  // or off. Thread-safe.
  absl::Status ReloadTls(const ServerOptions& options);
  // Port of the first address.
  uint16_t port() const;
  // Stops accepting; open connections continue. Thread-safe.
  void StopAccepting();
  // Stops and joins the threads after their current calls; drops open connections. Must not be called from these
  // threads.
  void Shut();

 private:
  struct Impl;
  explicit Listener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut
