#include "server/pool/admission_server.h"

#include <google/protobuf/util/json_util.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "admission.grpc.pb.h"
#include "common/base/json_writer.h"
#include "common/base/strings.h"
#include "common/rpc/grpc_log.h"
#include "common/rpc/grpc_server.h"
#include "common/rpc/hand_over.h"

namespace taut::server {
namespace {

namespace rpc = taut::admission::v1;

constexpr std::string_view kRequests = "requests";

grpc::StatusCode CodeOf(int status) {
  switch (status) {
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

google::protobuf::util::JsonParseOptions IgnoringUnknown() {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  return options;
}

std::string ErrorIn(const std::string& body) {
  rpc::Failure failure;
  const auto read = google::protobuf::util::JsonStringToMessage(body, &failure, IgnoringUnknown());
  return read.ok() && !failure.error().empty() ? failure.error() : "the request failed";
}

HttpRequest RequestTo(std::string_view method, std::vector<std::string> path) {
  HttpRequest out;
  out.method = method;
  out.segments = {"api", "v1"};
  for (std::string& segment : path) out.segments.push_back(std::move(segment));
  for (const std::string& segment : out.segments) StrAppend(&out.path, "/", PercentEncode(segment));
  return out;
}

// Fields of a request by name, as in the API.
std::vector<QueryParameter> FieldsOf(const rpc::Ask& ask) {
  std::vector<QueryParameter> out = {{"group", ask.group()}, {"tier", ask.tier()}};
  for (const auto& [resource, amount] : ask.per_task()) out.push_back({resource, amount});
  std::sort(out.begin() + 2, out.end(),
            [](const QueryParameter& a, const QueryParameter& b) { return a.name < b.name; });
  if (ask.tasks() != 0) out.push_back({"tasks", std::to_string(ask.tasks())});
  if (!ask.job().empty()) out.push_back({"job", ask.job()});
  if (!ask.duration().empty()) out.push_back({"duration", ask.duration()});
  if (ask.priority() != 0) out.push_back({"priority", std::to_string(ask.priority())});
  return out;
}

// A resource with the name of a field would be mistaken for the field.
grpc::Status CheckAsk(const rpc::Ask& ask) {
  constexpr std::string_view kFields[] = {"group", "tier", "tasks", "job", "duration", "priority"};
  for (const auto& [resource, amount] : ask.per_task()) {
    if (resource.empty()) return {grpc::INVALID_ARGUMENT, "per_task: a resource has no name"};
    if (std::ranges::find(kFields, resource) != std::end(kFields))
      return {grpc::INVALID_ARGUMENT, StrCat("per_task: \"", resource, "\" is not a resource")};
  }
  return grpc::Status::OK;
}

class AdmissionService final : public rpc::Admission::CallbackService {
 public:
  // `know`: GrpcServer::Know.
  AdmissionService(AnswerRequest answer, std::function<void(const std::string&)> know)
      : answer_(std::move(answer)), know_(std::move(know)) {}

  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context, const rpc::Ask* ask,
                                  rpc::Verdict* verdict) override {
    if (const grpc::Status s = CheckAsk(*ask); !s.ok()) return Reply(context, s);
    HttpRequest request = RequestTo("GET", {"admission"});
    request.query = FieldsOf(*ask);
    return Answer(context, std::move(request), verdict);
  }
  grpc::ServerUnaryReactor* Make(grpc::CallbackServerContext* context, const rpc::Ask* ask,
                                 rpc::Request* made) override {
    if (const grpc::Status s = CheckAsk(*ask); !s.ok()) return Reply(context, s);
    HttpRequest request = RequestTo("POST", {std::string(kRequests)});
    JsonWriter json;
    json.BeginObject();
    for (const QueryParameter& field : FieldsOf(*ask)) json.Field(field.name, std::string_view(field.value));
    json.EndObject();
    request.body = json.Take();
    request.headers.push_back({"Content-Type", "application/json"});
    return Answer(context, std::move(request), made);
  }
  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context, const rpc::RequestId* id,
                                rpc::Request* found) override {
    return Answer(context, RequestTo("GET", {std::string(kRequests), std::to_string(id->id())}), found);
  }
  grpc::ServerUnaryReactor* End(grpc::CallbackServerContext* context, const rpc::RequestId* id,
                                rpc::Request* ended) override {
    return Answer(context, RequestTo("DELETE", {std::string(kRequests), std::to_string(id->id())}), ended);
  }

  AdmissionServerCounts counts() const { return {answered_.load(), rejected_.load(), failed_.load(), 0}; }

 private:
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, HttpRequest request,
                                   google::protobuf::Message* out) {
    request.peer = context->peer();  // such as "ipv4:127.0.0.1:40404"
    if (request.peer.starts_with("ip")) request.peer.erase(0, request.peer.find(':') + 1);
    for (const auto& [name, value] : context->client_metadata()) {
      if (std::string_view(name.data(), name.size()) == "authorization")
        request.headers.push_back({"Authorization", std::string(value.data(), value.size())});
    }
    const HttpResponse response = answer_(std::move(request), CertificateName(*context));
    if (response.status != 401) know_(context->peer());
    if (response.status != 200) return Reply(context, {CodeOf(response.status), ErrorIn(response.body)});
    const auto read = google::protobuf::util::JsonStringToMessage(response.body, out, IgnoringUnknown());
    if (!read.ok())
      return Reply(context, {grpc::INTERNAL, "the answer of the API is not that of this version"});
    return Reply(context, grpc::Status::OK);
  }
  static std::optional<std::string> CertificateName(const grpc::CallbackServerContext& context) {
    const auto auth = context.auth_context();
    if (auth == nullptr || !auth->IsPeerAuthenticated()) return std::nullopt;
    const auto names = auth->FindPropertyValues("x509_common_name");
    return names.empty() ? "" : std::string(names.front().data(), names.front().size());
  }
  grpc::ServerUnaryReactor* Reply(grpc::CallbackServerContext* context, const grpc::Status& status) {
    const grpc::StatusCode code = status.error_code();
    const bool failed = code == grpc::UNAVAILABLE || code == grpc::INTERNAL;
    (status.ok() ? answered_ : failed ? failed_ : rejected_).fetch_add(1, std::memory_order_relaxed);
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(status);
    return reactor;
  }

  const AnswerRequest answer_;
  const std::function<void(const std::string&)> know_;
  std::atomic<uint64_t> answered_{0}, rejected_{0}, failed_{0};
};

class GrpcAdmissionServer final : public AdmissionServer {
 public:
  GrpcAdmissionServer(const AdmissionServerOptions& options, AnswerRequest answer)
      : max_connections_(static_cast<size_t>(std::max(options.max_connections, 1))),
        service_(std::move(answer), [this](const std::string& peer) { server_.Know(peer); }) {}
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
                                                                        AnswerRequest answer) {
  KeepGrpcSilent();
  ServerOptions access = options.access;
  if (absl::Status s = SetListen(options.listen, access); !s.ok()) return s;
  auto server = std::make_unique<GrpcAdmissionServer>(options, std::move(answer));
  if (absl::Status s = server->Listen(access); !s.ok()) return s;
  return server;
}

}  // namespace taut::server
