// The agent's side of the stream to tautd. Messages are kept, sent and resent until the daemon has stored them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent.pb.h"

namespace taut::node {

enum class Keep : uint8_t {
  kNo,                // dropped without a connection, because the message is only useful now
  kUntilAcknowledged  // kept on disk until the daemon has acknowledged the message
};

struct UplinkStatus {
  bool connected = false;
  std::string error;  // reason for the missing connection; "": connected, or not tried yet
  uint64_t queued_messages = 0, queued_bytes = 0;  // messages that are not acknowledged yet
  uint64_t dropped = 0;                            // messages dropped because the queue or the disk was full
  uint64_t connects = 0;
  // Number of messages that Send rejected because the daemon would reject them (validate.h), and the reason
  // for the last rejection.
  uint64_t refused = 0;
  std::string refusal;
};

// All calls must come from one thread. No function except Flush blocks for long.
class Uplink {
 public:
  virtual ~Uplink() = default;
  // Queues or sends a message. Its sequence must be unset: Send assigns a sequence if the message is kept.
  virtual void Send(taut::agent::v1::FromAgent message, Keep keep) = 0;
  // Returns the daemon's messages since the last call, without acknowledgements, which the uplink handles itself.
  virtual std::vector<taut::agent::v1::ToAgent> Take() = 0;
  // Returns true once after each (re)connection: the list of tasks must then be sent.
  virtual bool TakeConnected() = 0;
  // Returns an eventfd that is readable (EPOLLIN) when Take or TakeConnected has a result; Take makes it
  // unreadable. A negative value means that there is no eventfd.
  virtual int wake_fd() const = 0;
  virtual UplinkStatus status() const = 0;
  // Waits until all messages were written to the connection, at most timeout_ms.
  virtual void Flush(int timeout_ms) = 0;
};

// Discards all messages: for `--observe` without a daemon.
class NoUplink final : public Uplink {
 public:
  void Send(taut::agent::v1::FromAgent, Keep) override {}
  std::vector<taut::agent::v1::ToAgent> Take() override { return {}; }
  bool TakeConnected() override { return false; }
  int wake_fd() const override { return -1; }
  UplinkStatus status() const override { return {}; }
  void Flush(int) override {}
};

struct UplinkOptions {
  std::string address;  // address of tautd: "host:port"
  std::string token;    // sent as "authorization: Bearer ..." metadata if not ""
  // PEM files. Without ca_file, certificate_file and tls, the connection uses plain text. With certificate and
  // key, it uses mutual TLS.
  bool tls = false;
  std::string ca_file, certificate_file, key_file;
  std::string server_name;  // name expected in the certificate; "": the host of the address
  std::string queue_path;   // directory that only this queue uses, created if missing; "": in memory
  uint64_t max_queue_bytes = uint64_t{32} << 20;
  int min_backoff_ms = 100, max_backoff_ms = 5000;
  // First message of every stream. The uplink sets Hello's queue and queued.
  taut::agent::v1::Hello hello;
};

// Creates an uplink over gRPC, which connects and reconnects by itself; connection errors are in status(). Returns
// InvalidArgument for invalid options, or the error of a file that cannot be used.
absl::StatusOr<std::unique_ptr<Uplink>> ConnectUplink(const UplinkOptions& options);

}  // namespace taut::node
