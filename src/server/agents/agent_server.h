// The daemon's gRPC server, to which agents connect.
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

// Receives the server's events on gRPC's threads. Calls for one session are sequential and in order; calls
// for different sessions are concurrent. Functions must not block for long; they may call AgentServer::Send.
class AgentListener {
 public:
  virtual ~AgentListener() = default;
  // Called with the first message of a stream, which has a hello. `who`: names in the client's certificate
  // (common name and subject alternative names), one per line; "" without a certificate.
  virtual void OnConnect(SessionId session, const taut::agent::v1::FromAgent& hello,
                         const std::string& who) = 0;
  virtual void OnMessage(SessionId session, const taut::agent::v1::FromAgent& message) = 0;
  // Called instead of OnMessage for a message that CheckMessage (validate.h) rejects; `sequence` is the message's
  // sequence. The agent resends a kept message on each connection until the message is acknowledged, even if the
  // message is invalid.
  virtual void OnRefused(SessionId /*session*/, uint64_t /*sequence*/, const absl::Status& /*why*/) {}
  virtual void OnDisconnect(SessionId session) = 0;
};

struct AgentServerOptions {
  std::vector<std::string> listen;  // addresses such as "127.0.0.1:7071"; port 0: any free port
  std::vector<std::string> tokens;  // agents must send one of these tokens; empty: no token is required
  std::string certificate_file, key_file;  // PEM files; the server uses TLS if both are set
  // PEM file of the CA of the agents' certificates, which TLS then requires; "": no certificate is required.
  std::string client_ca_file;
  // Id of the first session; ids of a later server must not overlap the ids of an earlier server.
  SessionId first_session = 1;
  uint32_t cpu_buckets = 321;  // number of CPU buckets, Grid::Cpu().size()
  int max_sessions = 10'000;
  // Highest numbers of connections, with or without a session: in total, and from one address. The total is
  // also at most half of the descriptors that the process may open. A connection above either bound is closed
  // at once.
  int max_connections = 11'000;
  int max_per_address = 4'000;
  // Time after which a connection without a stream is closed, and timeout of a connection's handshake.
  int idle_timeout_ms = 5'000;
  size_t max_message_bytes = size_t{16} << 20;
  // Highest total size of the messages that wait for one agent. If the size is exceeded, because the agent does
  // not read, the agent's session is ended.
  size_t max_waiting_bytes = size_t{8} << 20;
  int hello_timeout_ms = 10'000;  // longest time from the stream's start to its first message
};

struct AgentServerCounts {
  uint64_t sessions = 0;  // sessions that are open now
  uint64_t accepted = 0;  // streams whose first message was a hello
  uint64_t refused = 0;   // streams without a hello: bad token, no hello in time, too many sessions
  uint64_t messages = 0, bytes = 0;  // received messages, including hellos, and their bytes
  uint64_t bad_messages = 0;         // messages rejected by CheckMessage
  uint64_t sent = 0;
  uint64_t cut_off = 0;      // sessions ended because the agent did not read
  uint64_t connections = 0;  // accepted connections, with or without a stream
  // Connections closed above max_connections or max_per_address, including connections closed to make room for
  // other connections.
  uint64_t rejected_connections = 0;
};

class AgentServer {
 public:
  // Starts a server. Fails if the address is in use, a file cannot be read, or an address other than loopback
  // has neither tokens nor a client CA. `listener` must outlive the server.
  static absl::StatusOr<std::unique_ptr<AgentServer>> Start(const AgentServerOptions& options,
                                                            AgentListener* listener);
  virtual ~AgentServer() = default;  // calls Stop()
  // Queues a message. Returns false if the session has ended. Thread-safe; the listener may call it.
  virtual bool Send(SessionId session, taut::agent::v1::ToAgent message) = 0;
  // Ends a session. OnDisconnect is called later. Thread-safe.
  virtual void Close(SessionId session) = 0;
  // Returns the port of the first address.
  virtual int port() const = 0;
  virtual AgentServerCounts counts() const = 0;
  // Ends all sessions. OnDisconnect is called for each session before Stop returns. Must not be called from the
  // listener or under a mutex that the listener locks.
  virtual void Stop() = 0;
};

}  // namespace taut::server
