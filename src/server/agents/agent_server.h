// The daemon's side: a gRPC server to which agents come.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent.pb.h"
#include "common/rpc/session_id.h"

namespace taut::server {

// Told what comes, from gRPC's threads: calls for one session come one after the other and in order, those
// for different sessions side by side. Must not block for long; may call AgentServer::Send.
class AgentListener {
 public:
  virtual ~AgentListener() = default;
  // The first message of the stream, which has a hello. `who`: the names in the client's certificate (common
  // name and subject alternative names), one a line; "" without a certificate.
  virtual void OnConnect(SessionId session, const taut::agent::v1::FromAgent& hello,
                         const std::string& who) = 0;
  virtual void OnMessage(SessionId session, const taut::agent::v1::FromAgent& message) = 0;
  // Instead of OnMessage for one that CheckMessage (validate.h) does not let in: `sequence` as it came. One
  // that is kept comes again after each connection until it is acknowledged all the same.
  virtual void OnRefused(SessionId /*session*/, uint64_t /*sequence*/, const absl::Status& /*why*/) {}
  virtual void OnDisconnect(SessionId session) = 0;
};

struct AgentServerOptions {
  std::vector<std::string> listen;         // "127.0.0.1:7071"; port 0: any
  std::vector<std::string> tokens;         // one of them must come; empty: none is asked for
  std::string certificate_file, key_file;  // PEM; both: TLS
  std::string client_ca_file;              // with TLS: agents must have a certificate of this CA
  SessionId first_session = 1;             // a server after another goes on with ids of its own
  uint32_t cpu_buckets = 321;              // Grid::Cpu().size()
  int max_sessions = 10'000;
  // Connections, with or without a session: in all and from one address. At most half of the descriptors that
  // the process may open, whatever is said here. Above, a connection is closed at once.
  int max_connections = 11'000;
  int max_per_address = 4'000;
  // After it a connection without a stream is closed: before and after its handshake.
  int idle_timeout_ms = 5'000;
  size_t max_message_bytes = size_t{16} << 20;
  // What waits for one agent that does not read; above, it is cut off.
  size_t max_waiting_bytes = size_t{8} << 20;
  int hello_timeout_ms = 10'000;  // from the stream's beginning to its first message
};

struct AgentServerCounts {
  uint64_t sessions = 0;             // now
  uint64_t accepted = 0;             // streams with a hello
  uint64_t refused = 0;              // streams without: no token, no hello, too many
  uint64_t messages = 0, bytes = 0;  // came, hellos too
  uint64_t bad_messages = 0;         // of them, refused by CheckMessage
  uint64_t sent = 0;
  uint64_t cut_off = 0;      // sessions that did not read
  uint64_t connections = 0;  // accepted; without a stream where TLS fails, or where it says nothing
  uint64_t rejected_connections =
      0;  // closed, also to make room for others: above max_connections or max_per_address
};

class AgentServer {
 public:
  // Errors: the address is taken, a file cannot be read, an address other than loopback without tokens or
  // client CA. `listener` must outlive it.
  static absl::StatusOr<std::unique_ptr<AgentServer>> Start(const AgentServerOptions& options,
                                                            AgentListener* listener);
  virtual ~AgentServer() = default;  // Stop()
  // Queues a message; false if the session is over. From any thread, also from the listener.
  virtual bool Send(SessionId session, taut::agent::v1::ToAgent message) = 0;
  // Ends a session.
  virtual void Close(SessionId session) = 0;
  // Of the first address.
  virtual int port() const = 0;
  virtual AgentServerCounts counts() const = 0;
  // Ends all sessions; the listener is notified of each before Stop returns. Not from the listener, nor with
  // a lock that the listener takes.
  virtual void Stop() = 0;
};

}  // namespace taut::server
