#include "programs/quota_port.h"

#include <utility>

#include "base/strings.h"
#include "programs/whole_file.h"

namespace taut {
namespace {

// What is in the TLS files; "" of one that cannot be read.
std::string TlsOf(const QuotaGrpcConfig& config) {
  std::string out;
  for (const std::string* file : {&config.certificate_file, &config.key_file, &config.client_ca_file})
    StrAppend(&out, file->empty() ? "" : ReadWhole(*file).value_or(""), "\n");
  return out;
}

}  // namespace

QuotaPort::QuotaPort(std::string client_ca_file, std::function<HttpResponse(const HttpRequest&)> handle)
    : client_ca_file_(std::move(client_ca_file)), handle_(std::move(handle)) {}

absl::StatusOr<std::unique_ptr<QuotaPort>> QuotaPort::Start(
    const QuotaGrpcConfig& config, const ServerOptions& server,
    std::function<HttpResponse(const HttpRequest&)> handle) {
  AdmissionServerOptions options;
  options.listen = config.listen;
  options.access = server;
  options.access.certificate_file = config.certificate_file;
  options.access.key_file = config.key_file;
  options.access.client_ca_file = config.client_ca_file;
  std::unique_ptr<QuotaPort> port(new QuotaPort(config.client_ca_file, std::move(handle)));
  port->tls_ = TlsOf(config);
  (void)port->Reload(config, server);
  const auto answer = [p = port.get()](HttpRequest request, const std::optional<std::string>& name) {
    return p->Answer(std::move(request), name);
  };
  absl::StatusOr<std::unique_ptr<AdmissionServer>> grpc = AdmissionServer::Start(options, answer);
  if (!grpc.ok()) return absl::Status(grpc.status().code(), StrCat("quota.grpc: ", Message(grpc.status())));
  port->grpc_ = *std::move(grpc);
  return port;
}

bool QuotaPort::Reload(const QuotaGrpcConfig& config, const ServerOptions& server) {
  ServerOptions of_port = server;
  of_port.client_ca_file = client_ca_file_;
  auto access = std::make_shared<const Access>(of_port);
  {
    const std::lock_guard lock(mutex_);
    access_ = std::move(access);
  }
  return TlsOf(config) == tls_;
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

}  // namespace taut
