// A gRPC server with listeners of its own: a ConnectionAcceptor bounds the connections, and ServerOptions set
// TLS.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/net/server_options.h"
#include "common/rpc/connection_acceptor.h"
#include "common/rpc/hand_over.h"

namespace taut {

// Parses the addresses into `options`, whose other fields must already be set. Checks the result by the rules of
// an HTTP server, and returns the same errors.
absl::Status SetListen(const std::vector<std::string>& addresses, ServerOptions& options);

// Call Listen, Accept and Stop from one thread.
class GrpcServer {
 public:
  // Sets options for a service of short calls: no second process on the address, 5 s for a handshake, at least 5 s
  // between pings.
  static void SetBounds(grpc::ServerBuilder& builder, int max_message_bytes);

  // Reads the certificates of `options`, binds its addresses and starts the server that `builder` describes,
  // without accepting connections. Uses at most half of the process's descriptors, even if `bounds` allows more.
  // `service` must outlive the server. Returns an error if an address is in use, a file cannot be read, or gRPC
  // does not start.
  absl::Status Listen(const ServerOptions& options, AcceptorOptions bounds, grpc::Service& service,
                      grpc::ServerBuilder& builder);
  // Starts to accept connections. REQUIRES: Listen returned OK.
  void Accept();
  // Stops accepting, calls `end_calls`, cancels calls that last longer than another second, calls
  // `wait_until_ended` and destroys the server. Does nothing if the server is not running.
  void Stop(const std::function<void()>& end_calls, const std::function<void()>& wait_until_ended);

  // Marks the connection of a peer (grpc::ServerContextBase::peer) after an authenticated call: the
  // connection is then not closed to make room for other connections. Thread-safe. REQUIRES: Listen returned
  // OK or is running.
  void Know(const std::string& peer) {
    TakeOver(this);
    if (acceptor_ != nullptr) acceptor_->Know(peer);
  }
  // The acceptor, valid also after Stop. REQUIRES: Listen returned OK.
  const ConnectionAcceptor& acceptor() const { return *acceptor_; }

 private:
  std::unique_ptr<ConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> to_grpc_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace taut
