// An agent's side of the stream: messages are kept, sent and resent until the daemon has stored them.
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
  kNo,                // only of use now: lost if there is no connection
  kUntilAcknowledged  // on disk until the daemon acknowledged it
};

struct UplinkStatus {
  bool connected = false;
  std::string error;                               // why not; "" if connected or not tried yet
  uint64_t queued_messages = 0, queued_bytes = 0;  // not acknowledged
  uint64_t dropped = 0;                            // the queue was full, or the disk
  uint64_t connects = 0;
  // Messages that Send did not take because the daemon would refuse them (validate.h), and why the last one.
  uint64_t refused = 0;
  std::string refusal;
};

// Called from one thread; never blocks for long.
class Uplink {
 public:
  virtual ~Uplink() = default;
  // Without a sequence: Send gives it one if it is to be kept.
  virtual void Send(taut::agent::v1::FromAgent message, Keep keep) = 0;
  // What came since the last call. Acks are taken care of before and not among it.
  virtual std::vector<taut::agent::v1::ToAgent> Take() = 0;
  // True once after each (re)connection: the tasks must be sent to the daemon.
  virtual bool TakeConnected() = 0;
  // An eventfd, readable (EPOLLIN) when Take or TakeConnected has something; Take makes it unreadable.
  virtual int wake_fd() const = 0;
  virtual UplinkStatus status() const = 0;
  // Waits until all was handed to the connection, or so long.
  virtual void Flush(int timeout_ms) = 0;
};

// Loses everything: `--observe` without a daemon.
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
  std::string address;  // "host:port"
  std::string token;    // sent as "authorization: Bearer ..." metadata if not ""
  // PEM files; ca_file "" and tls false: plain text. With certificate and key: mutual TLS.
  bool tls = false;
  std::string ca_file, certificate_file, key_file;
  std::string server_name;  // to be found in the certificate; "": the address' host
  std::string queue_path;   // a directory of its own, made if it is not there; "": in memory
  uint64_t max_queue_bytes = uint64_t{32} << 20;
  int min_backoff_ms = 100, max_backoff_ms = 5000;
  // Sent first on every stream; queue and queued are filled in.
  taut::agent::v1::Hello hello;
};

// Over gRPC. Connects by itself, again and again; errors are in status(). InvalidArgument or the file's error
// if the options cannot be.
absl::StatusOr<std::unique_ptr<Uplink>> ConnectUplink(const UplinkOptions& options);

}  // namespace taut::node
