// gRPC server for requests for quota (proto/admission.proto). The server passes each call to QuotaAccess, as the
// HTTP API does, so that both have the same permissions, texts and audit log.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/http.h"
#include "common/net/server_options.h"
#include "server/auth/audit_log.h"
#include "server/pool/quota_access.h"

namespace taut::server {

// Identifies the caller: sets role, user, bindings and refusal of the request, whose header Authorization contains
// the token. `certificate_name` is the common name of the client's certificate; nullopt if there is none. Returns
// an error if the call must not be handled. Called concurrently by gRPC's threads.
using IdentifyCaller =
    std::function<absl::Status(HttpRequest& caller, const std::optional<std::string>& certificate_name)>;

// Objects that the server calls, and which must outlive the server. If `service` is null, `identify` must return
// an error for every call.
struct AdmissionParts {
  IdentifyCaller identify;
  QuotaService* service = nullptr;
  AuditLog* audit = nullptr;
};

struct AdmissionServerOptions {
  std::vector<std::string> listen;  // addresses such as "127.0.0.1:7073"; port 0: any free port
  // TLS files, client CA and tokens. Without tokens, only loopback addresses are allowed. The server ignores
  // `access.listen`.
  ServerOptions access;
  int max_connections = 256;  // limit, also bounded by half of the process's file descriptors
};

struct AdmissionServerCounts {
  uint64_t answered = 0;              // number of calls with a result
  uint64_t rejected = 0;              // number of calls with an error that the caller can correct
  uint64_t failed = 0;                // number of calls with UNAVAILABLE or another error
  uint64_t rejected_connections = 0;  // number of connections closed because of max_connections
};

// A running server. Thread-safe.
class AdmissionServer {
 public:
  // Starts to listen. Returns errors of ServerOptions::Check(), and Unavailable if an address is in use or a file
  // cannot be read.
  static absl::StatusOr<std::unique_ptr<AdmissionServer>> Start(const AdmissionServerOptions& options,
                                                                AdmissionParts parts);
  virtual ~AdmissionServer() = default;  // calls Stop()
  // Returns the port of the first address.
  virtual int port() const = 0;
  virtual AdmissionServerCounts counts() const = 0;
  // Ends all calls. The server does not use the parts after Stop() has returned.
  virtual void Stop() = 0;
};

}  // namespace taut::server
