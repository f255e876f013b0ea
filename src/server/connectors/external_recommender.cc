#include "server/connectors/external_recommender.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "common/rpc/grpc_log.h"
#include "common/rpc/tls_files.h"
#include "recommender.grpc.pb.h"
#include "server/connectors/external_message.h"

namespace taut::server {
namespace {

namespace recommender_v1 = taut::recommender::v1;
using SteadyClock = std::chrono::steady_clock;

constexpr int kMaxMessageBytes = 16 << 20;

class GrpcExternalRecommender final : public ExternalRecommender {
 public:
  GrpcExternalRecommender(ExternalRecommenderOptions options,
                          std::shared_ptr<grpc::ChannelCredentials> credentials)
      : options_(std::move(options)) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    // With this delay, the client reconnects to a restarted service before the next window.
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5'000);
    arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
    stub_ = recommender_v1::Recommender::NewStub(
        grpc::CreateCustomChannel("dns:///" + options_.address, std::move(credentials), arguments));
    health_.configured = true;
    thread_ = std::thread([this] { Run(); });
  }
  ~GrpcExternalRecommender() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      if (call_ != nullptr) call_->TryCancel();
    }
    wake_.notify_all();
    thread_.join();
  }

  void Ask(ExternalBatch batch) override {
    {
      const std::lock_guard lock(mutex_);
      if (next_.has_value()) ++health_.skipped_batches;
      // replaces a waiting batch, because answers for older windows would be too late
      next_ = std::move(batch);
    }
    wake_.notify_all();
  }
  std::vector<ExternalAnswer> Take() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(answers_, {});
  }
  std::vector<RefusedAnswer> TakeRefused() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(refused_, {});
  }
  ExternalHealth health() const override {
    const std::lock_guard lock(mutex_);
    return health_;
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return stopping_ || next_.has_value(); });
      if (stopping_) return;
      const ExternalBatch batch = *std::exchange(next_, std::nullopt);
      lock.unlock();
      const auto begin = SteadyClock::now();
      // When a newer window arrives, skip the remaining jobs of this window.
      for (size_t first = 0; first < batch.jobs.size() && !HasNewer(); first += options_.max_jobs) {
        const size_t count = std::min(options_.max_jobs, batch.jobs.size() - first);
        if (!Call(batch.window, std::span(batch.jobs).subspan(first, count))) break;
      }
      const double seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
      lock.lock();
      health_.last_seconds = seconds;
    }
  }

  // Stores the first rejected answer for each reason and job, so that a job whose answers are rejected in every
  // window is reported once. Stores at most kMostTold answers. REQUIRES: mutex_ is locked.
  void NoteRefused(RefusedAnswer refused) {
    constexpr size_t kMostTold = 10'000;
    ++health_.invalid_by_kind[static_cast<size_t>(refused.kind)];
    if (told_.size() >= kMostTold || !told_.emplace(refused.kind, refused.job).second) return;
    refused_.push_back(std::move(refused));
  }

  bool HasNewer() {
    const std::lock_guard lock(mutex_);
    return stopping_ || next_.has_value();
  }

  // Returns false if the service does not respond, so that further calls would only wait.
  bool Call(WindowId window, std::span<const ExternalJob> jobs) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(options_.deadline_ms));
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return false;
      call_ = &context;
      ++health_.requests;
    }
    recommender_v1::RecommendResponse response;
    // Call the service without the lock, so that the destructor can cancel the call.
    const grpc::Status status =
        stub_->Recommend(&context, ExternalRequest(options_.cell, window, jobs), &response);
    ExternalResult result;
    if (status.ok()) {
      const WindowId until{window.index + 1 + options_.hold_windows};
      ExternalBounds bounds{.max_step = options_.max_step, .machine = {}};
      if (options_.machine) bounds.machine = options_.machine();
      result = TakeExternalResponse(response, jobs, until, bounds);
    }
    const std::lock_guard lock(mutex_);
    call_ = nullptr;
    if (stopping_) return false;
    health_.ok = status.ok();
    if (!status.ok()) {
      const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
      ++(late ? health_.late_requests : health_.failed_requests);
      health_.error =
          late ? StrCat("no answer within ", options_.deadline_ms, " ms (external_recommender.deadline)")
               : Printable(CutUtf8(status.error_message(), kMaxExternalReasonBytes));
      if (health_.error.empty())
        health_.error = StrCat("gRPC status ", static_cast<int>(status.error_code()));
      health_.answers_error = !late && status.error_code() != grpc::StatusCode::UNAVAILABLE;
      // The service may return an error status because of these jobs, so continue with the next jobs.
      return health_.answers_error;
    }
    health_.error.clear();
    health_.last_answer_s = options_.now_s();
    health_.answers += result.answers.size();
    health_.invalid_answers += result.invalid;
    for (RefusedAnswer& refused : result.refused) NoteRefused(std::move(refused));
    if (!result.why.empty()) {
      health_.invalid = std::move(result.why);
      health_.last_invalid_s = health_.last_answer_s;
    }
    std::ranges::move(result.answers, std::back_inserter(answers_));
    return true;
  }

  const ExternalRecommenderOptions options_;
  std::unique_ptr<recommender_v1::Recommender::Stub> stub_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::optional<ExternalBatch> next_;
  std::vector<ExternalAnswer> answers_;
  std::vector<RefusedAnswer> refused_;                      // rejected answers for the next TakeRefused()
  std::set<std::pair<ExternalRefusal, std::string>> told_;  // reported refusals, by kind and job
  ExternalHealth health_;
  grpc::ClientContext* call_ = nullptr;  // current call; null: none
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ExternalRecommender>> ConnectExternalRecommender(
    const ExternalRecommenderOptions& options) {
  KeepGrpcSilent();
  const size_t colon = options.address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == options.address.size() ||
      options.address.find('/') != std::string::npos) {
    return absl::InvalidArgumentError(StrCat("external_recommender.address is '", options.address,
                                             "': expected HOST:PORT, such as 127.0.0.1:7073"));
  }
  const absl::StatusOr<TlsFiles> tls =
      ReadTlsFiles(options.ca_file, options.certificate_file, options.key_file);
  if (!tls.ok()) return tls.status();
  auto credentials = grpc::InsecureChannelCredentials();
  if (!options.ca_file.empty() || !options.certificate_file.empty()) {
    credentials = grpc::SslCredentials({tls->ca, tls->key, tls->certificate});
  }
  return std::make_unique<GrpcExternalRecommender>(options, std::move(credentials));
}

}  // namespace taut::server
