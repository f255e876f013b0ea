#include "tools/programs/quota_port.h"

#include <utility>

#include "common/base/strings.h"
#include "tools/programs/reopened_port.h"

namespace taut::tools {
namespace {

std::string TlsOf(const server::QuotaGrpcConfig& config) {
  return TextOfFiles({&config.certificate_file, &config.key_file, &config.client_ca_file});
}

server::AdmissionServerOptions OptionsOf(const server::QuotaGrpcConfig& config, const ServerOptions& server) {
  server::AdmissionServerOptions out;
  out.listen = config.listen;
  out.access = server;
  out.access.certificate_file = config.certificate_file;
  out.access.key_file = config.key_file;
  out.access.client_ca_file = config.client_ca_file;
  return out;
}

server::AdmissionServerCounts SumOf(const server::AdmissionServerCounts& a,
                                    const server::AdmissionServerCounts& b) {
  return {.answered = a.answered + b.answered,
          .rejected = a.rejected + b.rejected,
          .failed = a.failed + b.failed,
          .rejected_connections = a.rejected_connections + b.rejected_connections};
}

absl::Status Named(const absl::Status& status) {
  return status.ok() ? status : absl::Status(status.code(), StrCat("quota.grpc: ", Message(status)));
}

}  // namespace

QuotaPort::QuotaPort(server::QuotaGrpcConfig config, std::function<HttpResponse(const HttpRequest&)> handle)
    : config_(std::move(config)), handle_(std::move(handle)) {}

absl::StatusOr<std::unique_ptr<QuotaPort>> QuotaPort::Start(
    const server::QuotaGrpcConfig& config, const ServerOptions& server,
    std::function<HttpResponse(const HttpRequest&)> handle) {
  std::unique_ptr<QuotaPort> port(new QuotaPort(config, std::move(handle)));
  port->tls_ = TlsOf(config);
  port->SetAccess(server, config.client_ca_file);
  if (absl::Status s = Named(port->Open(OptionsOf(config, server))); !s.ok()) return s;
  return port;
}

absl::Status QuotaPort::Open(const server::AdmissionServerOptions& options) {
  absl::StatusOr<std::unique_ptr<server::AdmissionServer>> grpc = server::AdmissionServer::Start(
      options, [this](HttpRequest request, const std::optional<std::string>& name) {
        return Answer(std::move(request), name);
      });
  if (!grpc.ok()) return grpc.status();
  const std::lock_guard lock(mutex_);
  if (grpc_ != nullptr) ended_ = SumOf(ended_, grpc_->counts());
  grpc_ = *std::move(grpc);
  return absl::OkStatus();
}

void QuotaPort::SetAccess(const ServerOptions& server, const std::string& client_ca_file) {
  ServerOptions of_port = server;
  of_port.client_ca_file = client_ca_file;
  auto access = std::make_shared<const Access>(of_port);
  const std::lock_guard lock(mutex_);
  access_ = std::move(access);
}

absl::StatusOr<bool> QuotaPort::Reload(const server::QuotaGrpcConfig& config, const ServerOptions& server) {
  SetAccess(server, config_.client_ca_file);
  server::QuotaGrpcConfig wanted = config;
  wanted.listen = config_.listen;
  std::string tls = TlsOf(wanted);
  const bool changed = tls != tls_;
  if (changed) {
    server::AdmissionServerOptions options = OptionsOf(wanted, server);
    // Clients do not know its port.
    const auto not_open = [](const HttpRequest&, const std::optional<std::string>&) {
      return ErrorResponse(503, "not open yet");
    };
    const auto attempt = [&](const Addresses& listen) {
      options.listen = listen;
      const absl::StatusOr<std::unique_ptr<server::AdmissionServer>> tried =
          server::AdmissionServer::Start(options, not_open);
      if (tried.ok()) (*tried)->Stop();
      return tried.status();
    };
    const auto open = [&](const Addresses& listen) {
      options.listen = listen;
      // Before the new port has a call: the new files say whether certificates name callers.
      SetAccess(server, wanted.client_ca_file);
      return Open(options);
    };
    const absl::Status reopened =
        ReopenPort(wanted.listen, port(), {.attempt = attempt, .stop = [this] { Stop(); }, .open = open});
    if (!reopened.ok()) return Named(reopened);
  }
  config_ = wanted;
  tls_ = std::move(tls);
  return changed;
}

server::AdmissionServerCounts QuotaPort::counts() const {
  const std::lock_guard lock(mutex_);
  return SumOf(ended_, grpc_->counts());
}

HttpResponse QuotaPort::Answer(HttpRequest request,
                               const std::optional<std::string>& certificate_name) const {
  std::shared_ptr<const Access> access;
  {
    const std::lock_guard lock(mutex_);
    access = access_;
  }
  Caller caller = access->CallerOf(request, certificate_name);
  request.role = caller.role;
  request.user = std::move(caller.user);
  request.bindings = std::move(caller.bindings);
  request.refusal = std::move(caller.refusal);
  if (std::optional<HttpResponse> refused = access->Refuse(request); refused.has_value())
    return *std::move(refused);
  return handle_(request);
}

}  // namespace taut::tools
