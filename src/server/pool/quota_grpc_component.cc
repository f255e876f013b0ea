#include "server/pool/quota_grpc_component.h"

#include <utility>

#include "common/base/strings.h"
#include "common/net/clocks.h"
#include "common/net/reopened_port.h"

namespace taut::server {
namespace {

std::string TlsOf(const QuotaGrpcConfig& config) {
  return TextOfFiles({&config.certificate_file, &config.key_file, &config.client_ca_file});
}

AdmissionServerOptions OptionsOf(const QuotaGrpcConfig& config, const ServerOptions& server) {
  AdmissionServerOptions out;
  out.listen = config.listen;
  out.access = server;
  out.access.certificate_file = config.certificate_file;
  out.access.key_file = config.key_file;
  out.access.client_ca_file = config.client_ca_file;
  return out;
}

AdmissionServerCounts SumOf(const AdmissionServerCounts& a, const AdmissionServerCounts& b) {
  return {.answered = a.answered + b.answered,
          .rejected = a.rejected + b.rejected,
          .failed = a.failed + b.failed,
          .rejected_connections = a.rejected_connections + b.rejected_connections};
}

absl::Status Named(const absl::Status& status) {
  return status.ok() ? status : absl::Status(status.code(), StrCat("quota.grpc: ", Message(status)));
}

}  // namespace

QuotaGrpcComponent::QuotaGrpcComponent(QuotaGrpcConfig config, ServerFn server, QuotaComponent& quota,
                                       const DaemonContext& context)
    : config_(std::move(config)),
      server_(std::move(server)),
      quota_(quota),
      context_(context),
      audit_(*context.log, SteadySeconds) {}

std::span<const std::string_view> QuotaGrpcComponent::after() const {
  static constexpr std::string_view kAfter[] = {"quota", "http"};
  return kAfter;
}

absl::Status QuotaGrpcComponent::Start() {
  const ServerOptions server = server_();
  tls_ = TlsOf(config_);
  SetAccess(server, config_.client_ca_file);
  if (absl::Status s = Named(Open(OptionsOf(config_, server))); !s.ok()) return s;
  context_.log->Info(StrCat("listening for requests for quota (gRPC) on port ", port()));
  return absl::OkStatus();
}

absl::Status QuotaGrpcComponent::Open(const AdmissionServerOptions& options) {
  absl::StatusOr<std::unique_ptr<AdmissionServer>> grpc = AdmissionServer::Start(
      options, {.identify = [this](HttpRequest& caller, const auto& name) { return Identify(caller, name); },
                .service = quota_.service(),
                .audit = &audit_});
  if (!grpc.ok()) return grpc.status();
  const std::lock_guard lock(mutex_);
  if (grpc_ != nullptr) ended_ = SumOf(ended_, grpc_->counts());
  grpc_ = *std::move(grpc);
  return absl::OkStatus();
}

void QuotaGrpcComponent::SetAccess(const ServerOptions& server, const std::string& client_ca_file) {
  ServerOptions of_port = server;
  of_port.client_ca_file = client_ca_file;
  auto access = std::make_shared<const Access>(of_port);
  const std::lock_guard lock(mutex_);
  access_ = std::move(access);
}

absl::StatusOr<bool> QuotaGrpcComponent::TakeFiles(const QuotaGrpcConfig& config) {
  const ServerOptions server = server_();
  SetAccess(server, config_.client_ca_file);
  QuotaGrpcConfig wanted = config;
  wanted.listen = config_.listen;
  std::string tls = TlsOf(wanted);
  const bool changed = tls != tls_;
  if (changed) {
    AdmissionServerOptions options = OptionsOf(wanted, server);
    // Rejects all calls, because the attempt only tests the addresses and the TLS files.
    const auto not_open = [](const HttpRequest&, const auto&) {
      return absl::UnavailableError("not open yet");
    };
    const auto attempt = [&](const Addresses& listen) {
      options.listen = listen;
      const absl::StatusOr<std::unique_ptr<AdmissionServer>> tried =
          AdmissionServer::Start(options, {.identify = not_open});
      if (tried.ok()) (*tried)->Stop();
      return tried.status();
    };
    const auto open = [&](const Addresses& listen) {
      options.listen = listen;
      // Set the access before the new port receives a call, because the new files determine whether certificates
      // name callers.
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

void QuotaGrpcComponent::OnReload(Reloading& reload) {
  const absl::StatusOr<bool> again = TakeFiles(reload.next.quota_grpc);
  if (!again.ok()) return reload.Keep("certificates of quota.grpc", {"quota.grpc.tls"}, again.status());
  reload.Take("certificates of quota.grpc", {"quota.grpc.tls"});
  if (*again) {
    context_.log->Act(LogLevel::kInfo, "quota_port_reopened", {{"reason", "its certificates changed"}});
  }
}

void QuotaGrpcComponent::Collect(MetricsText& out) const {
  AdmissionServerCounts counts;
  {
    const std::lock_guard lock(mutex_);
    counts = grpc_ != nullptr ? SumOf(ended_, grpc_->counts()) : ended_;
  }
  for (const auto& [result, count] :
       {std::pair{"answered", counts.answered}, {"rejected", counts.rejected}, {"failed", counts.failed}}) {
    out.Counter("tautd_quota_grpc_requests_total", "Requests for quota by gRPC, by result.", count,
                {{"result", result}});
  }
  out.Counter("tautd_quota_grpc_connections_refused_total", "Connections refused over the maximum.",
              counts.rejected_connections);
}

absl::Status QuotaGrpcComponent::Identify(HttpRequest& caller,
                                          const std::optional<std::string>& certificate_name) const {
  std::shared_ptr<const Access> access;
  {
    const std::lock_guard lock(mutex_);
    access = access_;
  }
  Caller found = access->CallerOf(caller, certificate_name);
  if (found.role == Role::kNone) {
    return absl::UnauthenticatedError(
        StrCat("authentication required: send the metadata authorization: Bearer TOKEN",
               found.refusal.empty() ? "" : "; ", found.refusal));
  }
  caller.role = found.role;
  caller.user = std::move(found.user);
  caller.bindings = std::move(found.bindings);
  return absl::OkStatus();
}

}  // namespace taut::server
