// Threads that accept connections and turn their wheel.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "common/net/connection.h"
#include "common/net/server_options.h"

namespace taut {

class Listener {
 public:
  struct Calls {
    // A client was accepted. From any of the threads, but one call at a time for each listen address.
    std::function<void(std::unique_ptr<Connection>)> on_accept;
    // A client could not be accepted: out of file descriptors or memory. It waits and is accepted later.
    std::function<void()> on_accept_failed = [] {};
    // Every `tick_interval`, on one of the threads.
    std::function<void()> on_tick;
    std::chrono::milliseconds tick_interval{100};
  };
  // Binds and reads the TLS files; serves from Run() on. options must be checked. Errors name the address or
  // file.
  static absl::StatusOr<std::unique_ptr<Listener>> Bind(const ServerOptions& options);
  // Shut() first.
  ~Listener();

  void Run(Calls calls);
  // Reads the certificate, the key and the client CA anew, for connections to come. Not OK: all stays as it
  // was. TLS is neither begun nor ended by it. From any thread.
  absl::Status ReloadTls(const ServerOptions& options);
  // Of the first address.
  uint16_t port() const;
  // No more clients; those there are go on. From any thread.
  void StopAccepting();
  // Ends the threads when what they do now is done. Not from one of them. What is still open is dropped.
  void Shut();

 private:
  struct Impl;
  explicit Listener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut
