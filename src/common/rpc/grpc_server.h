// The gRPC server of a service that listens by itself: behind a ConnectionAcceptor, with TLS by its options.
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

// Puts the addresses into `options`, whose other fields are set, and checks them as those of an HTTP server
// would be: the same rules, in the same words.
absl::Status SetListen(const std::vector<std::string>& addresses, ServerOptions& options);

class GrpcServer {
 public:
  // For a service of short calls: one process an address, quick handshakes, few pings.
  static void SetBounds(grpc::ServerBuilder& builder, int max_message_bytes);

  // Reads the certificates of `options`, binds its addresses and starts the server with what else `builder`
  // says; nothing is accepted yet. At most half of the descriptors that the process may open are used,
  // whatever `bounds` says. `service` must outlive it. Errors: the address is taken, a file cannot be read.
  absl::Status Listen(const ServerOptions& options, AcceptorOptions bounds, grpc::Service& service,
                      grpc::ServerBuilder& builder);
  // From here on connections are accepted. REQUIRES: Listen was OK.
  void Accept();
  // Accepts no more and calls `end_calls`; what has not ended a second later is cancelled. The server is gone
  // after `wait_until_ended`. Does nothing if it does not listen (any more).
  void Stop(const std::function<void()>& end_calls, const std::function<void()>& wait_until_ended);

  // A call from this peer (grpc::ServerContextBase::peer) was authenticated: its connection is not closed to make
  // room for others. Thread-safe. REQUIRES: Listen was OK, or is under way.
  void Know(const std::string& peer) {
    TakeOver(this);
    if (acceptor_ != nullptr) acceptor_->Know(peer);
  }
  // Of the connections, also after Stop. REQUIRES: Listen was OK.
  const ConnectionAcceptor& acceptor() const { return *acceptor_; }

 private:
  std::unique_ptr<ConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> to_grpc_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace taut
