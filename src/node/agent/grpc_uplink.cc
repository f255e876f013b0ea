#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <utility>

#include "agent.grpc.pb.h"
#include "common/base/random.h"
#include "common/base/strings.h"
#include "common/rpc/grpc_log.h"
#include "common/rpc/hand_over.h"
#include "common/rpc/tls_files.h"
#include "common/rpc/validate.h"
#include "node/agent/daemon_address.h"
#include "node/agent/message_queue.h"
#include "node/agent/uplink.h"

namespace taut::node {
namespace {

namespace v1 = taut::agent::v1;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Bound of messages that wait while the connection accepts no message. Above this bound, the connection is
// cancelled and opened again.
constexpr size_t kMaxLiveBytes = 2 * kMaxMessageBytes;
// Bound of messages that wait for Take. Above this bound, reading pauses, and flow control stops the daemon.
constexpr size_t kMaxInboxBytes = kMaxMessageBytes;
constexpr milliseconds kGoodbye{300};

int64_t NowUs() {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch()).count();
}

uint64_t DrawNumber() {
  std::random_device device;
  const uint64_t number = uint64_t{device()} << 32 | device();
  return number == 0 ? 1 : number;
}

class GrpcUplink;

// One attempt at a connection. The stream notifies its uplink, which deletes the stream when the attempt is
// over.
class Stream final : public grpc::ClientBidiReactor<v1::FromAgent, v1::ToAgent> {
 public:
  explicit Stream(GrpcUplink* uplink) : uplink_(uplink) {}
  grpc::ClientContext* context() { return &context_; }
  v1::ToAgent* incoming() { return &incoming_; }
  bool is_welcome() const { return context_.GetServerInitialMetadata().count("tautline") > 0; }

 private:
  void OnReadInitialMetadataDone(bool ok) override;
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  GrpcUplink* const uplink_;
  grpc::ClientContext context_;
  v1::ToAgent incoming_;
};

// One lock covers gRPC's threads and the caller's. gRPC never calls back from inside Start... and RemoveHold,
// so both are called under the lock.
class GrpcUplink final : public Uplink {
 public:
  GrpcUplink(UplinkOptions options, std::unique_ptr<MessageQueue> queue,
             std::shared_ptr<grpc::ChannelCredentials> credentials, int wake_fd)
      : options_(std::move(options)),
        credentials_(std::move(credentials)),
        wake_fd_(wake_fd),
        queue_(std::move(queue)),
        random_(DrawNumber()) {
    const std::lock_guard lock(mutex_);
    Connect();
  }

  ~GrpcUplink() override {
    std::unique_lock lock(mutex_);
    is_stopping_ = true;
    // Cancel wakes the alarm's callback, which needs the lock: wait_for below releases the lock.
    if (alarm_) alarm_->Cancel();
    if (is_held_ && is_connected_ && !is_writing_) stream_->StartWritesDone();
    ReleaseHold();
    // gRPC's callbacks use `this` until OnOver and the alarm's callback have run: do not return before both.
    const auto is_over = [this] { return stream_ == nullptr && !is_alarm_set_; };
    if (!is_connected_ || !changed_.wait_for(lock, kGoodbye, is_over)) {
      if (stream_ != nullptr) stream_->context()->TryCancel();
      changed_.wait(lock, is_over);
    }
    close(wake_fd_);
  }

  void Send(v1::FromAgent message, Keep keep) override {
    // Sequence and queue position must agree: no other Send may come between next_sequence() and Append.
    const std::lock_guard lock(mutex_);
    message.set_sequence(keep == Keep::kNo ? 0 : queue_->next_sequence());
    const size_t bytes = message.ByteSizeLong();
    const absl::Status status = bytes <= kMaxMessageBytes
                                    ? CheckMessage(message)
                                    : absl::InvalidArgumentError(StrCat("it has ", bytes, " bytes"));
    if (!status.ok()) {
      ++refused_;
      refusal_ = Message(status);
      return;
    }
    if (keep == Keep::kUntilAcknowledged) {
      queue_->Append(message.SerializeAsString(), NowUs());
    } else if (is_connected_) {
      // The message keeps its place among the kept messages: it is sent after all messages that are in the
      // queue now.
      live_.push_back({queue_->last_sequence(), bytes, std::move(message)});
      live_bytes_ += bytes;
      if (live_bytes_ > kMaxLiveBytes) stream_->context()->TryCancel();
    }
    Pump();
  }

  std::vector<v1::ToAgent> Take() override {
    uint64_t ignored = 0;
    const std::lock_guard lock(mutex_);
    (void)!read(wake_fd_, &ignored, sizeof(ignored));
    inbox_bytes_ = 0;
    // Reading pauses while the inbox is full. Reading resumes only under the hold: without the hold, Start... is
    // forbidden.
    if (is_held_ && is_reading_paused_) {
      is_reading_paused_ = false;
      HandOver(stream_);
      stream_->StartRead(stream_->incoming());
    }
    return std::exchange(inbox_, {});
  }

  bool TakeConnected() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(is_newly_connected_, false);
  }

  int wake_fd() const override { return wake_fd_; }

  UplinkStatus status() const override {
    const std::lock_guard lock(mutex_);
    UplinkStatus out;
    out.connected = is_connected_;
    out.error = is_connected_ ? "" : error_;
    if (!queue_->error().empty()) StrAppend(&out.error, out.error.empty() ? "" : "; ", queue_->error());
    out.queued_messages = queue_->messages();
    out.queued_bytes = queue_->bytes();
    out.dropped = queue_->dropped();
    out.connects = connects_;
    out.refused = refused_;
    out.refusal = refusal_;
    return out;
  }

  void Flush(int timeout_ms) override {
    std::unique_lock lock(mutex_);
    queue_->Sync();
    changed_.wait_for(lock, milliseconds(timeout_ms), [this] {
      const bool all_kept = queue_->messages() == 0 || (is_connected_ && sent_ >= queue_->last_sequence());
      return all_kept && live_.empty() && !(is_connected_ && is_writing_);
    });
  }

  // Callbacks of the stream.
  void OnWelcome(Stream* stream) {
    const std::lock_guard lock(mutex_);
    // A late callback of a stream that is already being abandoned must not mark the uplink as connected.
    if (stream != stream_ || !is_held_) return;
    is_connected_ = is_newly_connected_ = true;
    connected_at_ = Clock::now();
    ++connects_;
    Wake();
    Pump();
  }

  void OnRead(bool ok) {
    const std::lock_guard lock(mutex_);
    if (!ok) return ReleaseHold();
    v1::ToAgent* incoming = stream_->incoming();
    if (incoming->has_ack()) {
      queue_->Acknowledge(incoming->ack().sequence());
      changed_.notify_all();
    } else {
      inbox_bytes_ += incoming->ByteSizeLong();
      inbox_.push_back(std::move(*incoming));
      Wake();
    }
    incoming->Clear();
    if (!is_held_) return;
    is_reading_paused_ = inbox_bytes_ > kMaxInboxBytes;
    if (is_reading_paused_) return;
    HandOver(stream_);
    stream_->StartRead(incoming);
  }

  void OnWritten(bool ok) {
    const std::lock_guard lock(mutex_);
    is_writing_ = false;
    outgoing_ = v1::FromAgent();
    if (ok) {
      Pump();
    } else {
      ReleaseHold();
    }
    changed_.notify_all();
  }

  // Deletes the stream under the lock, because other threads use stream_ under the lock. The stream is deleted
  // before the destructor can see stream_ as null, because gRPC's threads end with the last channel.
  void OnOver(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    delete std::exchange(stream_, nullptr);
    error_ = status.ok() ? "the daemon ended the connection"
                         : StrCat("connecting to ", options_.address, ": ", status.error_message());
    // Only a connection that lasted resets the backoff: a daemon that accepts and drops connections would
    // otherwise be flooded.
    if (is_connected_ && Clock::now() - connected_at_ > milliseconds(options_.max_backoff_ms)) attempts_ = 0;
    is_held_ = is_connected_ = is_newly_connected_ = is_writing_ = is_reading_paused_ = false;
    live_.clear();
    live_bytes_ = 0;
    // Unacknowledged messages are sent again on the next stream, beginning with the queue's first message.
    sent_ = 0;
    if (!is_stopping_) WaitAndConnect();
    changed_.notify_all();
  }

 private:
  // A message that is dropped if the connection fails. It is sent after all kept messages up to `after`.
  struct Live {
    uint64_t after;
    size_t bytes;
    v1::FromAgent message;
  };

  // Each attempt has its own channel: gRPC's own delays would add to this uplink's delays, and a channel that
  // failed once returns its old error. The old channel is destroyed after the new channel exists: gRPC's threads
  // end with the last channel of a process, and this thread may be one of them.
  void Connect() {
    grpc::ChannelArguments arguments;
    SetOptions(&arguments);
    const auto channel = grpc::CreateCustomChannel("dns:///" + options_.address, credentials_, arguments);
    stream_ = new Stream(this);
    if (!options_.token.empty()) {
      stream_->context()->AddMetadata("authorization", "Bearer " + options_.token);
    }
    auto stub = v1::Agents::NewStub(channel);
    stub->async()->Attend(stream_->context(), stream_);
    stub_ = std::move(stub);
    // The hold keeps the stream from OnDone while we may still start operations on it.
    stream_->AddHold();
    is_held_ = true;
    stream_->StartRead(stream_->incoming());
    // Hello is the first message, before all queued messages: the daemon needs the queue's number to acknowledge.
    *outgoing_.mutable_hello() = options_.hello;
    outgoing_.mutable_hello()->set_queue(queue_->number());
    outgoing_.mutable_hello()->set_queued(
        static_cast<uint32_t>(std::min<uint64_t>(queue_->messages(), UINT32_MAX)));
    is_writing_ = true;
    stream_->StartWrite(&outgoing_);
    HandOver(stream_);
    stream_->StartCall();
  }

  void SetOptions(grpc::ChannelArguments* arguments) const {
    arguments->SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // one connection for each uplink of a process
    arguments->SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20'000);
    arguments->SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
    arguments->SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    arguments->SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    // These arguments set the time that an attempt may take, and the time after which a channel retries by
    // itself. The channel must not retry here.
    for (const char* name : {GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS,
                             GRPC_ARG_MAX_RECONNECT_BACKOFF_MS}) {
      arguments->SetInt(name, 10'000);
    }
    arguments->SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    arguments->SetInt(GRPC_ARG_ENABLE_CHANNELZ, 0);
    arguments->SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    arguments->SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
    arguments->SetMaxReceiveMessageSize(static_cast<int>(kMaxMessageBytes));
    if (!options_.server_name.empty()) arguments->SetSslTargetNameOverride(options_.server_name);
  }

  // Waits half of a doubling backoff plus a random part of the other half, so that agents do not reconnect
  // together.
  void WaitAndConnect() {
    const double most = std::min<double>(options_.max_backoff_ms,
                                         options_.min_backoff_ms * static_cast<double>(1U << attempts_));
    attempts_ = std::min(attempts_ + 1, 20U);
    const auto wait = std::chrono::microseconds(static_cast<int64_t>(most * 1000 * random_.Uniform(0.5, 1)));
    is_alarm_set_ = true;
    alarm_.emplace();
    alarm_->Set(std::chrono::system_clock::now() + wait, [this](bool /*ok*/) {
      const std::lock_guard lock(mutex_);
      is_alarm_set_ = false;
      if (!is_stopping_) Connect();
      changed_.notify_all();
    });
  }

  // Starts the next write if there is a message and no write is in progress: gRPC allows one at a time.
  void Pump() {
    if (!is_connected_ || !is_held_ || is_writing_ || is_stopping_) return;
    if (!TakeNext()) return;
    is_writing_ = true;
    HandOver(stream_);
    stream_->StartWrite(&outgoing_);
  }

  // Moves the next message into outgoing_: first the messages from before this connection, then the others in
  // the order of Send. Returns false if no message is left.
  bool TakeNext() {
    while (true) {
      const bool is_live_next = !live_.empty() && live_.front().after <= sent_;
      auto kept = is_live_next ? std::nullopt : queue_->Next(sent_);
      if (kept) {
        sent_ = kept->sequence;
        // No version of tautlet wrote this message: skip it rather than stop the queue.
        if (!outgoing_.ParseFromString(kept->bytes)) continue;
        return true;
      }
      if (live_.empty()) {
        sent_ = queue_->last_sequence();
        return false;
      }
      live_bytes_ -= live_.front().bytes;
      outgoing_ = std::move(live_.front().message);
      live_.pop_front();
      return true;
    }
  }

  void ReleaseHold() {
    if (!is_held_) return;
    is_held_ = false;
    HandOver(stream_);
    stream_->RemoveHold();
  }

  void Wake() {
    const uint64_t one = 1;
    (void)!write(wake_fd_, &one, sizeof(one));
  }

  const UplinkOptions options_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  const int wake_fd_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  const std::unique_ptr<MessageQueue> queue_;
  Rng random_;
  std::unique_ptr<v1::Agents::Stub> stub_;  // stub of this attempt; keeps its channel alive
  Stream* stream_ = nullptr;                // null after OnOver
  bool is_held_ = false;                    // true while Start... may be called on the stream
  bool is_connected_ = false;
  bool is_newly_connected_ = false;
  bool is_writing_ = false;
  bool is_reading_paused_ = false;
  bool is_stopping_ = false;
  v1::FromAgent outgoing_;  // belongs to gRPC while is_writing_
  uint64_t sent_ = 0;       // last kept sequence that was written to this stream
  std::deque<Live> live_;
  size_t live_bytes_ = 0;
  std::vector<v1::ToAgent> inbox_;
  size_t inbox_bytes_ = 0;
  std::string error_, refusal_;
  uint64_t connects_ = 0, refused_ = 0;
  unsigned attempts_ = 0;
  Clock::time_point connected_at_;
  bool is_alarm_set_ = false;
  std::optional<grpc::Alarm> alarm_;
};

void Stream::OnReadInitialMetadataDone(bool ok) {
  const Reaction reaction(this);
  if (ok && is_welcome()) uplink_->OnWelcome(this);
}
void Stream::OnReadDone(bool ok) {
  const Reaction reaction(this);
  uplink_->OnRead(ok);
}
void Stream::OnWriteDone(bool ok) {
  const Reaction reaction(this);
  uplink_->OnWritten(ok);
}
void Stream::OnDone(const grpc::Status& status) {
  TakeOver(this);
  uplink_->OnOver(status);
}

absl::Status Check(const UplinkOptions& options) {
  if (absl::Status s = CheckDaemonAddress(options.address); !s.ok()) return s;
  if (options.min_backoff_ms < 1 || options.max_backoff_ms < options.min_backoff_ms) {
    return absl::InvalidArgumentError(
        "invalid backoff: expected at least 1 ms, and a maximum not below the minimum");
  }
  v1::FromAgent hello;
  *hello.mutable_hello() = options.hello;
  const absl::Status status = CheckMessage(hello);
  return status.ok() ? status : absl::InvalidArgumentError(StrCat("invalid hello: ", Message(status)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Uplink>> ConnectUplink(const UplinkOptions& options) {
  KeepGrpcSilent();
  if (const absl::Status status = Check(options); !status.ok()) return status;
  auto tls = ReadTlsFiles(options.ca_file, options.certificate_file, options.key_file);
  if (!tls.ok()) return tls.status();
  auto credentials = grpc::InsecureChannelCredentials();
  if (options.tls || !options.ca_file.empty() || !options.certificate_file.empty()) {
    grpc::SslCredentialsOptions ssl;
    ssl.pem_root_certs = tls->ca;
    ssl.pem_private_key = tls->key;
    ssl.pem_cert_chain = tls->certificate;
    credentials = grpc::SslCredentials(ssl);
  }
  MessageQueueOptions queue_options;
  queue_options.path = options.queue_path;
  queue_options.max_bytes = options.max_queue_bytes;
  queue_options.new_number = DrawNumber();
  auto queue = MessageQueue::Open(queue_options);
  if (!queue.ok()) return queue.status();
  const int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd < 0) return absl::ResourceExhaustedError("eventfd failed: no free file descriptor");
  return std::make_unique<GrpcUplink>(options, std::move(*queue), std::move(credentials), wake_fd);
}

}  // namespace taut::node
