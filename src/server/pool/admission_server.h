// A gRPC server of requests for quota (proto/admission.proto). It decides nothing itself: each call becomes a
// request to the HTTP API's handler, so that roles, texts and the audit log are the same.
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

namespace taut::server {

// Answers a request of the API. `certificate_name`: the common name of the client's certificate; nullopt: none.
// The token is in the header Authorization; role and user are not set. Called from gRPC's threads, side by side.
using AnswerRequest =
    std::function<HttpResponse(HttpRequest request, const std::optional<std::string>& certificate_name)>;

struct AdmissionServerOptions {
  std::vector<std::string> listen;  // "127.0.0.1:7073"; port 0: any
  // TLS files, client CA, and the tokens without which no address but loopback is listened on; `listen` of it is
  // not read.
  ServerOptions access;
  int max_connections = 256;  // also at most half of the descriptors that the process may open
};

struct AdmissionServerCounts {
  uint64_t answered = 0;              // calls with an answer
  uint64_t rejected = 0;              // with an error that the caller can mend
  uint64_t failed = 0;                // UNAVAILABLE and others
  uint64_t rejected_connections = 0;  // closed, also to make room for others: above max_connections
};

class AdmissionServer {
 public:
  // Errors: as ServerOptions::Check, the address is taken, a file cannot be read.
  static absl::StatusOr<std::unique_ptr<AdmissionServer>> Start(const AdmissionServerOptions& options,
                                                                AnswerRequest answer);
  virtual ~AdmissionServer() = default;  // Stop()
  // Of the first address.
  virtual int port() const = 0;
  virtual AdmissionServerCounts counts() const = 0;
  // `answer` is not called any more after it.
  virtual void Stop() = 0;
};

}  // namespace taut::server
