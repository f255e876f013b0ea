// A blocking TCP or TLS connection in which every step has a deadline.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taut {

// Where the certificates of a client are: PEM files, or the PEM text itself, which counts if both are set. Both
// "": the system's CAs; no certificate of our own.
struct TlsSources {
  std::string ca_file, ca_pem;
  std::string certificate_file, certificate_pem;
  std::string key_file, key_pem;
};

// What TLS needs to know; shared by the connections of a client.
class ClientTls {
 public:
  // InvalidArgument names the file, or says which text is no PEM.
  static absl::StatusOr<std::shared_ptr<ClientTls>> Load(const TlsSources& sources);
  struct Impl;
  explicit ClientTls(std::unique_ptr<Impl> impl);
  ~ClientTls();
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

class ClientSocket {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  // `tls` null: plain TCP. The server's certificate must be valid for `host`. Errors do not name the URL:
  // Unavailable, DeadlineExceeded; PermissionDenied if TLS fails.
  static absl::StatusOr<std::unique_ptr<ClientSocket>> Connect(const std::string& host,
                                                               const std::string& port,
                                                               std::shared_ptr<ClientTls> tls,
                                                               Deadline deadline);
  ~ClientSocket();

  absl::Status Write(std::string_view head, std::string_view body, Deadline deadline);
  // At least one byte; 0: the server sends no more.
  absl::StatusOr<size_t> Read(char* into, size_t size, Deadline deadline);
  // Between two answers: the server has closed the connection, or sent data without a request.
  bool IsStale();
  // Ends reads and writes under way, and later ones, with Unavailable. From any thread.
  void Interrupt();

 private:
  struct Impl;
  explicit ClientSocket(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut
