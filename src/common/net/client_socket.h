// A blocking connection over TCP, TLS or a Unix socket, in which every operation has a deadline.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taut {

// The certificates of a client: PEM files or PEM text. The text takes precedence if both are set. An empty CA
// means the system's CAs, and an empty certificate means no certificate.
struct TlsSources {
  std::string ca_file, ca_pem;
  std::string certificate_file, certificate_pem;
  std::string key_file, key_pem;
};

// Loaded TLS settings, shared by the connections of a client.
class ClientTls {
 public:
  // Loads the certificates. InvalidArgument names the file, or the kind of text, that is not valid PEM.
  static absl::StatusOr<std::shared_ptr<ClientTls>> Load(const TlsSources& sources);
  struct Impl;
  explicit ClientTls(std::unique_ptr<Impl> impl);
  ~ClientTls();
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Not thread-safe, except Interrupt.
class ClientSocket {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  // Connects, with TLS unless `tls` is null. The server's certificate must be valid for `host`. Returns
  // Unavailable, DeadlineExceeded, or PermissionDenied if TLS fails; the messages do not contain the URL. After
  // DeadlineExceeded in any method the connection is closed.
  static absl::StatusOr<std::unique_ptr<ClientSocket>> Connect(const std::string& host,
                                                               const std::string& port,
                                                               std::shared_ptr<ClientTls> tls,
                                                               Deadline deadline);
  // Connects to the Unix socket of an absolute path. Returns the errors of Connect, and Unavailable also for a
  // path longer than 107 bytes.
  static absl::StatusOr<std::unique_ptr<ClientSocket>> ConnectUnix(const std::string& path,
                                                                   Deadline deadline);
  ~ClientSocket();

  // Writes all bytes of both texts, or returns an error.
  absl::Status Write(std::string_view head, std::string_view body, Deadline deadline);
  // Reads at least one byte; returns 0 at the end of the stream.
  absl::StatusOr<size_t> Read(char* into, size_t size, Deadline deadline);
  // Returns true if the server has closed the connection or sent unrequested data. Call it between two
  // responses.
  bool IsStale();
  // Shuts the connection down: current and later reads and writes fail with Unavailable. Thread-safe.
  void Interrupt();

 private:
  struct Impl;
  explicit ClientSocket(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut
