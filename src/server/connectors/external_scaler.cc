#include "server/connectors/external_scaler.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "common/base/strings.h"
#include "common/net/server_options.h"
#include "common/rpc/grpc_log.h"
#include "common/rpc/grpc_server.h"
#include "common/rpc/hand_over.h"
#include "external_scaler.grpc.pb.h"

namespace taut::server {
namespace {

namespace keda = externalscaler;

constexpr char kMetric[] = "tautline_replicas";

ScaledObject ObjectOf(const keda::ScaledObjectRef& ref) {
  return {ref.name(), ref.namespace_(), {ref.scalermetadata().begin(), ref.scalermetadata().end()}};
}

grpc::Status AsGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.raw_code()), std::string(Message(status))};
}

absl::Status CheckPart(std::string_view key, std::string_view value) {
  if (!value.empty() && value.find('/') == std::string_view::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("scaler metadata ", key, " is '", value,
                                           "': expected a name without '/'; or give the full name as job"));
}

// A stream of StreamIsActive. The functions Start...() and Finish() of the reactor are called under the lock, and
// no function is called after Finish(). Other threads write only after the initial metadata is sent, because gRPC
// binds the reactor only then.
class ActiveStream final : public grpc::ServerWriteReactor<keda::IsActiveResponse> {
 public:
  ActiveStream(std::string job, std::function<void(ActiveStream*)> on_done)
      : job_(std::move(job)), on_done_(std::move(on_done)) {
    HandOver(this);
    StartSendInitialMetadata();
  }

  const std::string& job() const { return job_; }
  // Writes the state unless it equals the last written state.
  void Show(bool is_active) {
    const std::lock_guard lock(mutex_);
    // After a current write, the next check by the watch writes the newest state.
    if (!open_ || end_ || writing_ || shown_ == is_active) return;
    shown_ = is_active;
    writing_ = true;
    message_.set_result(is_active);
    HandOver(this);
    StartWrite(&message_);
  }
  void End(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    if (end_) return;
    end_ = status;
    if (open_) FinishLocked();
  }

 private:
  void FinishLocked() {
    HandOver(this);
    Finish(*end_);
  }
  void OnSendInitialMetadataDone(bool ok) override {
    const Reaction reaction(this);
    const std::lock_guard lock(mutex_);
    open_ = true;
    if (!ok && !end_) end_ = grpc::Status::CANCELLED;
    if (end_) FinishLocked();
  }
  void OnWriteDone(bool ok) override {
    const Reaction reaction(this);
    {
      const std::lock_guard lock(mutex_);
      writing_ = false;
    }
    if (!ok) End(grpc::Status::CANCELLED);
  }
  void OnCancel() override {
    const Reaction reaction(this);
    End(grpc::Status::CANCELLED);
  }
  void OnDone() override {
    TakeOver(this);
    // Move the function out first, because on_done deletes this object and its member on_done_.
    const auto on_done = std::move(on_done_);
    on_done(this);
  }

  const std::string job_;
  std::function<void(ActiveStream*)> on_done_;
  std::mutex mutex_;
  std::optional<bool> shown_;
  bool open_ = false;
  bool writing_ = false;
  std::optional<grpc::Status> end_;  // final status, sent as soon as the stream is open
  keda::IsActiveResponse message_;
};

// A stream that is rejected at once.
class NoStream final : public grpc::ServerWriteReactor<keda::IsActiveResponse> {
 public:
  explicit NoStream(const grpc::Status& status) {
    HandOver(this);
    Finish(status);
  }

 private:
  void OnDone() override {
    TakeOver(this);
    delete this;
  }
};

class ScalerService final : public keda::ExternalScaler::CallbackService {
 public:
  // `know` marks the connection of an authenticated caller (GrpcServer::Know()).
  ScalerService(const ScalerServerOptions& options, ReplicasOf replicas_of,
                std::function<void(const std::string&)> know)
      : know_(std::move(know)),
        max_streams_(static_cast<size_t>(std::max(options.max_streams, 0))),
        period_(std::max(options.stream_period_ms, 1)),
        replicas_of_(std::move(replicas_of)) {}

  grpc::ServerUnaryReactor* IsActive(grpc::CallbackServerContext* context, const keda::ScaledObjectRef* ref,
                                     keda::IsActiveResponse* response) override {
    const absl::StatusOr<int64_t> replicas = Replicas(*ref);
    if (replicas.ok()) response->set_result(*replicas > 0);
    return Reply(context, replicas.status());
  }

  // Responds even if the job has no number: KEDA requests the spec first, and the job may get a number later.
  grpc::ServerUnaryReactor* GetMetricSpec(grpc::CallbackServerContext* context,
                                          const keda::ScaledObjectRef* ref,
                                          keda::GetMetricSpecResponse* response) override {
    const absl::StatusOr<std::string> job = JobOfScaledObject(ObjectOf(*ref));
    if (job.ok()) {
      keda::MetricSpec* spec = response->add_metricspecs();
      spec->set_metricname(kMetric);
      spec->set_targetsize(1);
      spec->set_targetsizefloat(1);
    }
    return Reply(context, job.status());
  }

  grpc::ServerUnaryReactor* GetMetrics(grpc::CallbackServerContext* context,
                                       const keda::GetMetricsRequest* request,
                                       keda::GetMetricsResponse* response) override {
    if (request->metricname() != kMetric) {
      return Reply(context, absl::InvalidArgumentError(
                                StrCat("unknown metric '", request->metricname(), "': expected ", kMetric)));
    }
    const absl::StatusOr<int64_t> replicas = Replicas(request->scaledobjectref());
    if (replicas.ok()) {
      keda::MetricValue* value = response->add_metricvalues();
      value->set_metricname(kMetric);
      value->set_metricvalue(*replicas);
      value->set_metricvaluefloat(static_cast<double>(*replicas));
    }
    return Reply(context, replicas.status());
  }

  grpc::ServerWriteReactor<keda::IsActiveResponse>* StreamIsActive(
      grpc::CallbackServerContext* context, const keda::ScaledObjectRef* ref) override {
    TakeOver(this);
    absl::StatusOr<std::string> job = JobOfScaledObject(ObjectOf(*ref));
    if (!job.ok()) return new NoStream(AsGrpc(job.status()));
    know_(context->peer());
    std::unique_lock lock(mutex_);
    if (stopping_) return new NoStream({grpc::UNAVAILABLE, "the daemon is stopping"});
    if (streams_.size() >= max_streams_) {
      return new NoStream(
          {grpc::RESOURCE_EXHAUSTED, StrCat("too many streams: ", max_streams_, " are open, the maximum")});
    }
    auto* stream = new ActiveStream(*std::move(job), [this](ActiveStream* s) { Remove(s); });
    streams_.insert(stream);
    lock.unlock();
    changed_.notify_all();
    return stream;
  }

  void StartWatch() {
    watch_ = std::thread([this] { Watch(); });
  }
  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      for (ActiveStream* stream : streams_) stream->End({grpc::UNAVAILABLE, "the daemon is stopping"});
    }
    changed_.notify_all();
    if (watch_.joinable()) watch_.join();
  }
  void WaitUntilEmpty() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return streams_.empty(); });
  }
  ScalerServerCounts counts() const {
    ScalerServerCounts out;
    out.answered = answered_.load();
    out.unknown_job = unknown_job_.load();
    out.no_number = no_number_.load();
    out.failed = failed_.load();
    const std::lock_guard lock(mutex_);
    out.streams = streams_.size();
    return out;
  }

 private:
  absl::StatusOr<int64_t> Replicas(const keda::ScaledObjectRef& ref) const {
    const absl::StatusOr<std::string> job = JobOfScaledObject(ObjectOf(ref));
    if (!job.ok()) return job.status();
    return replicas_of_(*job);
  }

  grpc::ServerUnaryReactor* Reply(grpc::CallbackServerContext* context, const absl::Status& status) {
    std::atomic<uint64_t>* const count = status.ok()                          ? &answered_
                                         : absl::IsNotFound(status)           ? &unknown_job_
                                         : absl::IsFailedPrecondition(status) ? &no_number_
                                                                              : &failed_;
    count->fetch_add(1, std::memory_order_relaxed);
    // Without certificates anyone may call, so a failed request does not prove that the caller is KEDA. Therefore
    // the caller's connection gets no preference.
    if (count != &failed_) know_(context->peer());
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(AsGrpc(status));
    return reactor;
  }

  void Remove(ActiveStream* stream) {
    {
      const std::lock_guard lock(mutex_);
      streams_.erase(stream);
      delete stream;
      // Notify under the lock, because the service may be destroyed once the lock is released.
      changed_.notify_all();
    }
  }

  void Watch() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      // A stream whose job has no number sends nothing, so that KEDA keeps the last state.
      for (ActiveStream* stream : streams_) {
        const absl::StatusOr<int64_t> replicas = replicas_of_(stream->job());
        if (replicas.ok()) stream->Show(*replicas > 0);
      }
      if (streams_.empty()) {
        changed_.wait(lock);
      } else {
        changed_.wait_for(lock, period_);
      }
    }
  }

  const std::function<void(const std::string&)> know_;
  const size_t max_streams_;
  const std::chrono::milliseconds period_;
  const ReplicasOf replicas_of_;
  std::atomic<uint64_t> answered_{0}, unknown_job_{0}, no_number_{0}, failed_{0};
  mutable std::mutex mutex_;  // lock for streams_ and stopping_, locked before the mutex of a stream
  std::condition_variable changed_;
  std::set<ActiveStream*> streams_;  // streams whose OnDone() was not called yet
  bool stopping_ = false;
  std::thread watch_;
};

class GrpcScalerServer final : public ScalerServer {
 public:
  GrpcScalerServer(const ScalerServerOptions& options, ReplicasOf replicas_of)
      : max_connections_(static_cast<size_t>(std::max(options.max_connections, 1))),
        service_(options, std::move(replicas_of), [this](const std::string& peer) { server_.Know(peer); }) {}
  ~GrpcScalerServer() override { GrpcScalerServer::Stop(); }

  absl::Status Listen(const ServerOptions& access) {
    constexpr int kMaxMessageBytes = 1 << 20;
    grpc::ServerBuilder builder;
    GrpcServer::SetBounds(builder, kMaxMessageBytes);
    HandOver(&service_);
    const AcceptorOptions bounds{.max_connections = max_connections_, .max_per_address = max_connections_};
    if (absl::Status s = server_.Listen(access, bounds, service_, builder); !s.ok()) return s;
    service_.StartWatch();
    server_.Accept();
    return absl::OkStatus();
  }

  int port() const override { return server_.acceptor().port(); }
  ScalerServerCounts counts() const override {
    ScalerServerCounts out = service_.counts();
    out.rejected_connections = server_.acceptor().rejected();
    return out;
  }
  void Stop() override {
    server_.Stop([this] { service_.Stop(); }, [this] { service_.WaitUntilEmpty(); });
  }

 private:
  const size_t max_connections_;
  ScalerService service_;
  GrpcServer server_;
};

}  // namespace

absl::StatusOr<std::string> JobOfScaledObject(const ScaledObject& object) {
  const auto value = [&](const char* key, const std::string& otherwise) {
    const auto found = object.metadata.find(key);
    return found == object.metadata.end() ? otherwise : found->second;
  };
  if (object.metadata.count("job") > 0) {
    std::string job = value("job", "");
    if (job.empty()) {
      return absl::InvalidArgumentError(
          "scaler metadata job is empty: expected the name of a job, such as shop/deployment/web");
    }
    return job;
  }
  const std::string name_space = value("namespace", object.name_space);
  const std::string name = value("name", object.name);
  std::string kind = value("kind", "deployment");
  const bool has_cluster = object.metadata.count("cluster") > 0;
  const std::string cluster = value("cluster", "");
  if (absl::Status s = CheckPart("namespace", name_space); !s.ok()) return s;
  if (absl::Status s = CheckPart("kind", kind); !s.ok()) return s;
  if (absl::Status s = CheckPart("name", name); !s.ok()) return s;
  if (has_cluster) {
    if (absl::Status s = CheckPart("cluster", cluster); !s.ok()) return s;
  }
  for (char& c : kind) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return StrCat(cluster, has_cluster ? "/" : "", name_space, "/", kind, "/", name);
}

absl::StatusOr<std::unique_ptr<ScalerServer>> ScalerServer::Start(const ScalerServerOptions& options,
                                                                  ReplicasOf replicas_of) {
  KeepGrpcSilent();
  ServerOptions access;
  access.certificate_file = options.certificate_file;
  access.key_file = options.key_file;
  access.client_ca_file = options.client_ca_file;
  if (absl::Status s = SetListen(options.listen, access); !s.ok()) return s;
  auto server = std::make_unique<GrpcScalerServer>(options, std::move(replicas_of));
  if (absl::Status s = server->Listen(access); !s.ok()) return s;
  return server;
}

}  // namespace taut::server
