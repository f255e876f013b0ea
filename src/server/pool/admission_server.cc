#include "server/pool/admission_server.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "admission.grpc.pb.h"
#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/net/http_status.h"
#include "common/rpc/grpc_log.h"
#include "common/rpc/grpc_server.h"
#include "common/rpc/hand_over.h"

namespace taut::server {
namespace {

namespace rpc = taut::admission::v1;

// Returns the gRPC code that corresponds to the HTTP API's status for the same error.
grpc::StatusCode CodeOf(const absl::Status& status) {
  switch (HttpStatusOf(status.code())) {
    case 400:
    case 413:
      return grpc::INVALID_ARGUMENT;
    case 401:
      return grpc::UNAUTHENTICATED;
    case 403:
      return grpc::PERMISSION_DENIED;
    case 404:
      return grpc::NOT_FOUND;
    case 409:
      return grpc::FAILED_PRECONDITION;
    case 503:
      return grpc::UNAVAILABLE;
    default:
      return grpc::INTERNAL;
  }
}

absl::StatusOr<AskedQuota> AskedIn(const rpc::Ask& ask) {
  AskedQuota out;
  out.request.group = ask.group();
  out.request.tier = ask.tier();
  out.request.priority = ask.priority();
  out.job = ask.job();
  constexpr std::string_view kFields[] = {"group", "tier", "tasks", "job", "duration", "priority"};
  for (const auto& [resource, amount] : ask.per_task()) {
    if (resource.empty()) return absl::InvalidArgumentError("per_task: a resource has no name");
    // A resource with the name of a field would be indistinguishable from the field in texts.
    if (std::ranges::find(kFields, resource) != std::end(kFields))
      return absl::InvalidArgumentError(StrCat("per_task: \"", resource, "\" is not a resource"));
    if (absl::Status s = out.Set(resource, amount); !s.ok()) return s;
  }
  if (ask.tasks() != 0) {
    if (absl::Status s = out.Set("tasks", std::to_string(ask.tasks())); !s.ok()) return s;
  }
  if (!ask.duration().empty()) {
    if (absl::Status s = out.Set("duration", ask.duration()); !s.ok()) return s;
  }
  if (absl::Status s = out.Check(); !s.ok()) return s;
  return out;
}

// Converts CPU to cores. Amounts of other resources are unchanged.
double AmountOf(std::string_view resource, int64_t amount) {
  return resource == brain::kQuotaCpu ? static_cast<double>(amount) / 1000 : static_cast<double>(amount);
}

void Put(const brain::QuotaVector& amounts, google::protobuf::Map<std::string, double>& out) {
  for (const brain::QuotaAmount& a : amounts.amounts()) out[a.resource] = AmountOf(a.resource, a.amount);
}

void Put(const brain::AdmissionVerdict& verdict, rpc::Verdict& out) {
  out.set_outcome(std::string(Name(verdict.outcome)));
  out.set_explanation(Explain(verdict));
  Put(verdict.use.amounts, *out.mutable_asked());
  for (const brain::AdmissionBorrowing& b : verdict.borrowed) {
    rpc::Borrowing& to = *out.add_borrowed();
    to.set_resource(b.resource);
    to.set_amount(AmountOf(b.resource, b.amount));
    to.set_cohort(b.cohort);
  }
  for (const brain::AdmissionReason& r : verdict.reasons) {
    rpc::Reason& to = *out.add_reasons();
    to.set_resource(r.resource);
    to.set_level(r.level);
    to.set_asked(AmountOf(r.resource, r.asked));
    to.set_available(AmountOf(r.resource, r.available));
    to.set_never(r.never);
    to.set_sentence(r.text);
  }
  out.set_fitting_tasks(verdict.fitting_tasks);
  Put(verdict.fitting, *out.mutable_fitting());
  for (const std::string& tier : verdict.other_tiers) out.add_other_tiers(tier);
  out.set_reclaimable(verdict.reclaimable);
  if (verdict.probably_at.has_value()) out.set_probably_at(verdict.probably_at->seconds());
}

void Put(const brain::QuotaRequest& r, rpc::Request& out) {
  out.set_id(static_cast<int64_t>(r.id));
  out.set_state(std::string(Name(r.state)));
  out.set_end(std::string(Name(r.end)));
  out.set_group(r.asked.group);
  out.set_tier(r.asked.tier);
  out.set_job(Printable(r.job));  // earlier versions accepted any characters
  out.set_tasks(r.asked.tasks);
  Put(r.asked.per_task, *out.mutable_per_task());
  out.set_priority(r.asked.priority);
  if (r.asked.duration_s.has_value()) out.set_duration(*r.asked.duration_s);
  out.set_asked(r.asked.now.seconds());
  out.set_since(r.since.seconds());
  if (r.admitted_at.has_value()) out.set_admitted(r.admitted_at->seconds());
  out.set_who(r.who);
  out.set_reason(r.reason);
}

class AdmissionService final : public rpc::Admission::CallbackService {
 public:
  // `know` marks the connection of an authenticated caller (GrpcServer::Know()).
  AdmissionService(AdmissionParts parts, std::function<void(const std::string&)> know)
      : parts_(std::move(parts)), know_(std::move(know)) {}

  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context, const rpc::Ask* ask,
                                  rpc::Verdict* verdict) override {
    return Answer(context, {"Check", false}, verdict,
                  [&](const QuotaAccess& quota, const HttpRequest& caller) {
                    const absl::StatusOr<AskedQuota> asked = AskedIn(*ask);
                    return asked.ok() ? quota.Decide(caller, *asked) : asked.status();
                  });
  }
  grpc::ServerUnaryReactor* Make(grpc::CallbackServerContext* context, const rpc::Ask* ask,
                                 rpc::Request* made) override {
    return Answer(context, {"Make", true}, made, [&](const QuotaAccess& quota, const HttpRequest& caller) {
      const absl::StatusOr<AskedQuota> asked = AskedIn(*ask);
      return asked.ok() ? quota.Submit(caller, *asked) : asked.status();
    });
  }
  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context, const rpc::RequestId* id,
                                rpc::Request* found) override {
    return Answer(context, {"Get", false}, found, [&](const QuotaAccess& quota, const HttpRequest& caller) {
      return quota.Find(caller, id->id());
    });
  }
  grpc::ServerUnaryReactor* End(grpc::CallbackServerContext* context, const rpc::RequestId* id,
                                rpc::Request* ended) override {
    return Answer(context, {"End", true}, ended, [&](const QuotaAccess& quota, const HttpRequest& caller) {
      return quota.Withdraw(caller, id->id());
    });
  }

  AdmissionServerCounts counts() const { return {answered_.load(), rejected_.load(), failed_.load(), 0}; }

 private:
  struct Method {
    std::string_view name;
    bool changes = false;
  };
  // Identifies the caller, calls `act`, writes its result to `out`, and logs changes and refusals.
  template <typename Message, typename Act>
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, const Method& method, Message* out,
                                   const Act& act) {
    HttpRequest caller;
    caller.method = "POST";
    caller.path = StrCat("/", rpc::Admission::service_full_name(), "/", method.name);
    caller.peer = context->peer();  // address such as "ipv4:127.0.0.1:40404"
    if (caller.peer.starts_with("ip")) caller.peer.erase(0, caller.peer.find(':') + 1);
    for (const auto& [name, value] : context->client_metadata()) {
      if (std::string_view(name.data(), name.size()) == "authorization")
        caller.headers.push_back({"Authorization", std::string(value.data(), value.size())});
    }
    if (absl::Status s = parts_.identify(caller, CertificateName(*context)); !s.ok())
      return Reply(context, s);
    know_(context->peer());
    const auto result = act(QuotaAccess(*parts_.service), caller);
    parts_.audit->LogCall(caller, method.changes, result.status());
    if (result.ok()) Put(*result, *out);
    return Reply(context, result.status());
  }
  static std::optional<std::string> CertificateName(const grpc::CallbackServerContext& context) {
    const auto auth = context.auth_context();
    if (auth == nullptr || !auth->IsPeerAuthenticated()) return std::nullopt;
    const auto names = auth->FindPropertyValues("x509_common_name");
    return names.empty() ? "" : std::string(names.front().data(), names.front().size());
  }
  grpc::ServerUnaryReactor* Reply(grpc::CallbackServerContext* context, const absl::Status& status) {
    const grpc::StatusCode code = status.ok() ? grpc::OK : CodeOf(status);
    const bool failed = code == grpc::UNAVAILABLE || code == grpc::INTERNAL;
    (status.ok() ? answered_ : failed ? failed_ : rejected_).fetch_add(1, std::memory_order_relaxed);
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish({code, std::string(Message(status))});
    return reactor;
  }

  const AdmissionParts parts_;
  const std::function<void(const std::string&)> know_;
  std::atomic<uint64_t> answered_{0}, rejected_{0}, failed_{0};
};

class GrpcAdmissionServer final : public AdmissionServer {
 public:
  GrpcAdmissionServer(const AdmissionServerOptions& options, AdmissionParts parts)
      : max_connections_(static_cast<size_t>(std::max(options.max_connections, 1))),
        service_(std::move(parts), [this](const std::string& peer) { server_.Know(peer); }) {}
  ~GrpcAdmissionServer() override { GrpcAdmissionServer::Stop(); }

  absl::Status Listen(const ServerOptions& access) {
    constexpr int kMaxMessageBytes = 1 << 16;
    grpc::ServerBuilder builder;
    GrpcServer::SetBounds(builder, kMaxMessageBytes);
    HandOver(&service_);
    const AcceptorOptions bounds{.max_connections = max_connections_, .max_per_address = max_connections_};
    if (absl::Status s = server_.Listen(access, bounds, service_, builder); !s.ok()) return s;
    server_.Accept();
    return absl::OkStatus();
  }

  int port() const override { return server_.acceptor().port(); }
  AdmissionServerCounts counts() const override {
    AdmissionServerCounts out = service_.counts();
    out.rejected_connections = server_.acceptor().rejected();
    return out;
  }
  void Stop() override {
    server_.Stop([] {}, [] {});
  }

 private:
  const size_t max_connections_;
  AdmissionService service_;
  GrpcServer server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<AdmissionServer>> AdmissionServer::Start(const AdmissionServerOptions& options,
                                                                        AdmissionParts parts) {
  KeepGrpcSilent();
  ServerOptions access = options.access;
  if (absl::Status s = SetListen(options.listen, access); !s.ok()) return s;
  auto server = std::make_unique<GrpcAdmissionServer>(options, std::move(parts));
  if (absl::Status s = server->Listen(access); !s.ok()) return s;
  return server;
}

}  // namespace taut::server
