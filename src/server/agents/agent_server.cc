#include "server/agents/agent_server.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "agent.grpc.pb.h"
#include "common/base/strings.h"
#include "common/net/access.h"
#include "common/net/server_options.h"
#include "common/rpc/grpc_log.h"
#include "common/rpc/grpc_server.h"
#include "common/rpc/hand_over.h"
#include "common/rpc/validate.h"

namespace taut::server {
namespace {

namespace v1 = taut::agent::v1;
using Clock = std::chrono::steady_clock;

grpc::Status Error(grpc::StatusCode code, std::string_view message) { return {code, std::string(message)}; }

// Counters of all sessions.
struct Tally {
  std::atomic<uint64_t> accepted{0}, refused{0}, messages{0}, bytes{0}, bad_messages{0}, sent{0}, cut_off{0};
};

class Session;

// The present sessions by id.
class Sessions {
 public:
  explicit Sessions(size_t most) : most_(most) {}

  // Adds a session. Returns false if the table is full.
  bool Add(SessionId id, std::shared_ptr<Session> session) {
    const std::lock_guard lock(mutex_);
    if (living_ >= most_) return false;
    ++living_;
    by_id_.emplace(id, std::move(session));
    return true;
  }
  std::shared_ptr<Session> Find(SessionId id) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
  }
  std::vector<std::shared_ptr<Session>> All() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Session>> out;
    out.reserve(by_id_.size());
    for (const auto& entry : by_id_) out.push_back(entry.second);
    return out;
  }
  // Removes the session from the table, so that Find no longer returns it. Bury frees the session's place.
  void Remove(SessionId id) {
    const std::lock_guard lock(mutex_);
    by_id_.erase(id);
  }
  // Counts a session as ended. Notifies under the lock, because the caller of WaitUntilEmpty may then destroy
  // this object.
  void Bury() {
    const std::lock_guard lock(mutex_);
    if (--living_ == 0) empty_.notify_all();
  }
  void WaitUntilEmpty() {
    std::unique_lock lock(mutex_);
    empty_.wait(lock, [this] { return living_ == 0; });
  }
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return living_;
  }

 private:
  const size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable empty_;
  size_t living_ = 0;
  std::unordered_map<SessionId, std::shared_ptr<Session>> by_id_;
};

struct Shared {
  Shared(const AgentServerOptions& o, AgentListener* l)
      : options(o), listener(l), sessions(static_cast<size_t>(std::max(o.max_sessions, 0))) {}
  const AgentServerOptions options;
  AgentListener* const listener;
  Tally tally;
  Sessions sessions;
};

// One stream. gRPC calls each On... function after the previous call has returned, and OnDone last. Send and End
// may be called from any thread. Every Start... and Finish is called under the lock, and none after Finish. gRPC
// never calls back from inside these functions.
class Session final : public grpc::ServerBidiReactor<v1::FromAgent, v1::ToAgent>,
                      public std::enable_shared_from_this<Session> {
 public:
  Session(Shared* shared, grpc::CallbackServerContext* context, SessionId id, std::string who)
      : shared_(shared),
        context_(context),
        id_(id),
        who_(std::move(who)),
        hello_until_(Clock::now() + std::chrono::milliseconds(shared->options.hello_timeout_ms)) {}

  void Begin() {
    const std::lock_guard lock(mutex_);
    // Keep the session alive until OnDone, even if the table of sessions drops it.
    self_ = shared_from_this();
    HandOver(this);
    StartRead(&incoming_);
  }

  bool Send(v1::ToAgent message) {
    const std::lock_guard lock(mutex_);
    if (finished_ || !has_hello_) return false;
    const size_t bytes = message.ByteSizeLong();
    if (waiting_bytes_ + bytes > shared_->options.max_waiting_bytes) {
      shared_->tally.cut_off.fetch_add(1, std::memory_order_relaxed);
      Finish(Error(grpc::RESOURCE_EXHAUSTED, "stream closed: too many unread messages"), lock);
      return false;
    }
    waiting_bytes_ += bytes;
    waiting_.push_back(std::move(message));
    is_welcome_sent_ = true;  // the welcome metadata is sent with the first message
    // While the queue is not empty, its first message is being written. Therefore only a message that was
    // added to an empty queue starts a write.
    if (waiting_.size() == 1) WriteFirst();
    return true;
  }

  void End(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    Finish(status, lock);
  }

  // Ends the stream if its hello is overdue. Returns true if the session need not be checked again.
  bool CheckHello(Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    if (finished_ || has_hello_) return true;
    if (now < hello_until_) return false;
    Refuse("no hello received in time", lock);
    return true;
  }
  Clock::time_point hello_until() const { return hello_until_; }

 private:
  using Lock = std::lock_guard<std::mutex>;

  void OnReadDone(bool ok) override {
    const Reaction reaction(this);
    if (!ok) {
      End(grpc::Status::OK);  // the agent or the connection ended
      return;
    }
    shared_->tally.messages.fetch_add(1, std::memory_order_relaxed);
    shared_->tally.bytes.fetch_add(incoming_.ByteSizeLong(), std::memory_order_relaxed);
    const absl::Status status = CheckMessage(incoming_, shared_->options.cpu_buckets);
    const bool goes_on = is_connected_ ? TakeMessage(status) : TakeHello(status);
    if (!goes_on) return;
    incoming_ = v1::FromAgent();  // Clear() would keep the message's memory, for each of thousands of agents
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    HandOver(this);
    StartRead(&incoming_);
  }

  bool TakeHello(const absl::Status& status) {
    {
      const std::lock_guard lock(mutex_);
      if (finished_) return false;
      if (!incoming_.has_hello() || !status.ok()) {
        if (!status.ok()) shared_->tally.bad_messages.fetch_add(1, std::memory_order_relaxed);
        Refuse(incoming_.has_hello() ? StrCat("invalid hello: ", Message(status))
                                     : "the first message must be a hello",
               lock);
        return false;
      }
      // Set has_hello_ before OnConnect, so that the listener can already call Send.
      has_hello_ = true;
      // This metadata is the agent's only sign that its token was accepted.
      context_->AddInitialMetadata("tautline", "welcome");
    }
    is_connected_ = true;
    shared_->tally.accepted.fetch_add(1, std::memory_order_relaxed);
    shared_->listener->OnConnect(id_, incoming_, who_);
    const std::lock_guard lock(mutex_);
    // The first message of Send may have sent the metadata already.
    if (finished_ || is_welcome_sent_) return true;
    is_welcome_sent_ = true;
    HandOver(this);
    StartSendInitialMetadata();
    return true;
  }

  bool TakeMessage(absl::Status status) {
    if (status.ok() && incoming_.has_hello()) {
      status = absl::InvalidArgumentError("second hello on one stream");
    }
    if (status.ok()) {
      shared_->listener->OnMessage(id_, incoming_);
    } else {
      shared_->tally.bad_messages.fetch_add(1, std::memory_order_relaxed);
      shared_->listener->OnRefused(id_, incoming_.sequence(), status);
    }
    return true;
  }

  void WriteFirst() {
    HandOver(this);
    StartWrite(&waiting_.front());
  }

  void OnWriteDone(bool ok) override {
    const Reaction reaction(this);
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return;
    if (ok) shared_->tally.sent.fetch_add(1, std::memory_order_relaxed);
    waiting_bytes_ -= waiting_.front().ByteSizeLong();
    waiting_.pop_front();
    // If `ok` is false, the read fails too and ends the stream.
    if (ok && !finished_ && !waiting_.empty()) WriteFirst();
  }

  void OnDone() override {
    TakeOver(this);
    // Remove the session before OnDisconnect, so that Send cannot find the session after OnDisconnect was called.
    shared_->sessions.Remove(id_);
    if (is_connected_) {
      shared_->listener->OnDisconnect(id_);
    }
    // `self` keeps this object until the end of OnDone. Bury is called last, because the server may be destroyed
    // once all sessions are counted as ended.
    const std::shared_ptr<Session> self = std::move(self_);
    shared_->sessions.Bury();
  }

  void Refuse(std::string_view why, const Lock& lock) {
    shared_->tally.refused.fetch_add(1, std::memory_order_relaxed);
    Finish(Error(grpc::INVALID_ARGUMENT, why), lock);
  }

  void Finish(const grpc::Status& status, const Lock& /*held*/) {
    if (finished_) return;
    finished_ = true;
    // The status is sent only after the waiting messages. Cancel the stream if messages wait, because the agent
    // may have stopped reading.
    if (!waiting_.empty()) context_->TryCancel();
    HandOver(this);
    ServerBidiReactor::Finish(status);
  }

  Shared* const shared_;
  grpc::CallbackServerContext* const context_;
  const SessionId id_;
  const std::string who_;
  const Clock::time_point hello_until_;
  v1::FromAgent incoming_;
  bool is_connected_ = false;  // true: the listener knows the session; used only in gRPC's callbacks

  std::mutex mutex_;
  bool has_hello_ = false;
  bool is_welcome_sent_ = false;
  bool finished_ = false;
  std::deque<v1::ToAgent> waiting_;  // messages to send; the first is being written
  size_t waiting_bytes_ = 0;
  std::shared_ptr<Session> self_;  // this object, kept alive until OnDone
};

// A stream that is rejected before its first message is read.
class Refusal final : public grpc::ServerBidiReactor<v1::FromAgent, v1::ToAgent> {
 public:
  explicit Refusal(const grpc::Status& status) { Finish(status); }

 private:
  void OnDone() override { delete this; }
};

std::string NamesOf(const grpc::CallbackServerContext& context) {
  std::string names;
  const auto auth = context.auth_context();
  if (auth == nullptr || !auth->IsPeerAuthenticated()) return names;
  for (const char* property : {"x509_common_name", "x509_subject_alternative_name"}) {
    for (const grpc::string_ref& value : auth->FindPropertyValues(property)) {
      const std::string_view name(value.data(), value.size());
      if (name.empty() || name.find('\n') != std::string_view::npos) continue;
      if (!names.empty()) names += '\n';
      names += name;
    }
  }
  return names;
}

class Service final : public v1::Agents::CallbackService {
 public:
  Service(Shared* shared, const ServerOptions& access_options, std::function<void(const std::string&)> know)
      : shared_(shared),
        know_(std::move(know)),
        needs_token_(access_options.has_tokens()),
        access_(access_options) {}

  grpc::ServerBidiReactor<v1::FromAgent, v1::ToAgent>* Attend(grpc::CallbackServerContext* context) override {
    TakeOver(this);
    if (!HasToken(*context)) {
      return Refuse(Error(grpc::UNAUTHENTICATED,
                          "authentication required: send the metadata authorization: Bearer TOKEN"));
    }
    if (stopping_.load()) return Refuse(Error(grpc::UNAVAILABLE, "the daemon is stopping"));
    const SessionId id = next_id_.fetch_add(1);
    const auto session = std::make_shared<Session>(shared_, context, id, NamesOf(*context));
    if (!shared_->sessions.Add(id, session)) {
      return Refuse(Error(grpc::RESOURCE_EXHAUSTED, StrCat("too many agents: ", shared_->options.max_sessions,
                                                           " are connected, the maximum")));
    }
    session->Begin();
    know_(context->peer());
    {
      const std::lock_guard lock(mutex_);
      // unheard_ contains only weak pointers, because the watch must not keep a session alive.
      unheard_.push_back(session);
    }
    changed_.notify_all();
    // If Stop listed the sessions before this session was added, Stop did not end this session.
    if (stopping_.load()) session->End(Error(grpc::UNAVAILABLE, "the daemon is stopping"));
    return session.get();
  }

  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_.store(true);
    }
    changed_.notify_all();
    if (watch_.joinable()) watch_.join();
    for (const auto& session : shared_->sessions.All()) {
      session->End(Error(grpc::UNAVAILABLE, "the daemon is stopping"));
    }
  }
  void StartWatch() {
    watch_ = std::thread([this] { Watch(); });
  }

 private:
  Refusal* Refuse(const grpc::Status& status) {
    shared_->tally.refused.fetch_add(1, std::memory_order_relaxed);
    return new Refusal(status);
  }

  bool HasToken(const grpc::CallbackServerContext& context) const {
    if (!needs_token_) return true;
    const auto [begin, end] = context.client_metadata().equal_range("authorization");
    if (begin == end || std::next(begin) != end) return false;
    HttpRequest request;
    request.headers.push_back({"Authorization", {begin->second.data(), begin->second.size()}});
    return access_.RoleOf(request, false) == Role::kOperator;
  }

  // Ends streams without a hello. All streams have the same timeout, so the first in the list is due first.
  void Watch() {
    std::unique_lock lock(mutex_);
    while (!stopping_.load()) {
      if (unheard_.empty()) {
        changed_.wait(lock);
        continue;
      }
      const std::shared_ptr<Session> first = unheard_.front().lock();
      if (first == nullptr || first->CheckHello(Clock::now())) {
        unheard_.pop_front();
        continue;
      }
      changed_.wait_until(lock, first->hello_until());
    }
  }

  Shared* const shared_;
  const std::function<void(const std::string&)> know_;  // calls GrpcServer::Know
  const bool needs_token_;
  const Access access_;
  std::atomic<SessionId> next_id_{shared_->options.first_session};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::weak_ptr<Session>> unheard_;
  std::thread watch_;
};

void SetOptions(const AgentServerOptions& options, grpc::ServerBuilder* builder) {
  constexpr int kPingEveryMs = 20'000;
  constexpr int kPingTimeoutMs = 10'000;
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingEveryMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Agents ping as often as the server; a client that pings faster is disconnected.
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingEveryMs / 4);
  // A connection that sends no data or opens no stream is closed after idle_timeout_ms.
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, options.idle_timeout_ms);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, options.idle_timeout_ms);
  builder->AddChannelArgument(GRPC_ARG_ENABLE_CHANNELZ, 0);
  builder->SetMaxReceiveMessageSize(static_cast<int>(std::min<size_t>(options.max_message_bytes, INT32_MAX)));
}

class GrpcAgentServer final : public AgentServer {
 public:
  GrpcAgentServer(const AgentServerOptions& options, AgentListener* listener, const ServerOptions& access)
      : shared_(options, listener),
        service_(&shared_, access, [this](const std::string& peer) { server_.Know(peer); }) {}
  ~GrpcAgentServer() override { GrpcAgentServer::Stop(); }

  absl::Status Listen(const ServerOptions& access) {
    grpc::ServerBuilder builder;
    SetOptions(shared_.options, &builder);
    AcceptorOptions bounds;
    bounds.max_connections = static_cast<size_t>(std::max(shared_.options.max_connections, 1));
    bounds.max_per_address = static_cast<size_t>(std::max(shared_.options.max_per_address, 1));
    HandOver(&service_);
    if (absl::Status s = server_.Listen(access, bounds, service_, builder); !s.ok()) return s;
    service_.StartWatch();
    server_.Accept();
    return absl::OkStatus();
  }

  bool Send(SessionId session, v1::ToAgent message) override {
    const auto found = shared_.sessions.Find(session);
    return found != nullptr && found->Send(std::move(message));
  }
  void Close(SessionId session) override {
    const auto found = shared_.sessions.Find(session);
    if (found != nullptr) found->End(Error(grpc::ABORTED, "the daemon ended this session"));
  }
  int port() const override { return server_.acceptor().port(); }
  AgentServerCounts counts() const override {
    const Tally& t = shared_.tally;
    AgentServerCounts out;
    out.sessions = shared_.sessions.size();
    out.accepted = t.accepted.load();
    out.refused = t.refused.load();
    out.messages = t.messages.load();
    out.bytes = t.bytes.load();
    out.bad_messages = t.bad_messages.load();
    out.sent = t.sent.load();
    out.cut_off = t.cut_off.load();
    out.connections = server_.acceptor().accepted();
    out.rejected_connections = server_.acceptor().rejected();
    return out;
  }
  void Stop() override {
    server_.Stop([this] { service_.Stop(); }, [this] { shared_.sessions.WaitUntilEmpty(); });
  }

 private:
  Shared shared_;
  Service service_;
  GrpcServer server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<AgentServer>> AgentServer::Start(const AgentServerOptions& options,
                                                                AgentListener* listener) {
  KeepGrpcSilent();
  ServerOptions access;
  access.certificate_file = options.certificate_file;
  access.key_file = options.key_file;
  access.client_ca_file = options.client_ca_file;
  access.operator_tokens.assign(options.tokens.begin(), options.tokens.end());
  if (absl::Status s = SetListen(options.listen, access); !s.ok()) return s;
  auto server = std::make_unique<GrpcAgentServer>(options, listener, access);
  if (absl::Status s = server->Listen(access); !s.ok()) return s;
  return server;
}

}  // namespace taut::server
