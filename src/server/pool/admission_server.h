// gRPC server for requests for quota (proto/admission.proto). Each call is a call of QuotaAccess, as in the HTTP
// API, so that roles, texts and the audit log are the same in both.
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

// Identifies the sender of a call: sets role, user, bindings and refusal of the request, which has the token in
// its header Authorization. `certificate_name`: common name of the client's certificate; nullopt without one.
// Returns an error for a call that must not be handled. Threads of gRPC call the function concurrently.
using IdentifyCaller =
    std::function<absl::Status(HttpRequest& caller, const std::optional<std::string>& certificate_name)>;

// What the server calls; all must outlive it. Without a service no call may be identified.
struct AdmissionParts {
  IdentifyCaller identify;
  QuotaService* service = nullptr;
  AuditLog* audit = nullptr;
};

struct AdmissionServerOptions {
  std::vector<std::string> listen;  // such as "127.0.0.1:7073"; port 0: any free port
  // TLS files, client CA and tokens. Without tokens, only loopback addresses are allowed. `access.listen` is
  // ignored.
  ServerOptions access;
  int max_connections = 256;  // limited to half of the process' file descriptors
};

struct AdmissionServerCounts {
  uint64_t answered = 0;  // number of calls with a result
  uint64_t rejected = 0;  // number of calls with an error that the caller can correct
  uint64_t failed = 0;    // number of calls with UNAVAILABLE or another error
  uint64_t rejected_connections =
      0;  // number closed because of max_connections, also to make room for others
};

// A running server. Thread-safe.
class AdmissionServer {
 public:
  // Starts to listen. Errors of ServerOptions::Check; Unavailable if an address is in use or a file cannot be
  // read.
  static absl::StatusOr<std::unique_ptr<AdmissionServer>> Start(const AdmissionServerOptions& options,
                                                                AdmissionParts parts);
  virtual ~AdmissionServer() = default;  // calls Stop()
  // Returns the port of the first address.
  virtual int port() const = 0;
  virtual AdmissionServerCounts counts() const = 0;
  // Ends all calls. The parts are not used after Stop has returned.
  virtual void Stop() = 0;
};

}  // namespace taut::server
