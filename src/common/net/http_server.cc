#include "common/net/http_server.h"

#include <sys/resource.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/net/listener.h"
#include "common/net/session.h"
#include "common/net/silent_connection.h"

namespace taut {
namespace {

// Number of connections above the limit that still receive a 503. Further connections are closed without a
// response.
constexpr size_t kRefusedAloud = 64;

// Returns half of the limit of open files. The other half is for the store, agents and other files of the
// program.
size_t HalfOfDescriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return std::max<size_t>(limit.rlim_cur / 2, 1);
}

}  // namespace

struct HttpServer::Impl {
  Impl(const ServerOptions& options, Handler handler, std::unique_ptr<Listener> l)
      : state(options, std::move(handler)),
        listener(std::move(l)),
        max_connections(std::min(options.max_connections, HalfOfDescriptors())) {
    state.on_end = [this](Session* session) { Remove(session); };
  }

  struct Entry {
    std::shared_ptr<Session> session;
    bool displaced = false;  // true: the session is being closed and is not counted any more
  };

  void Accept(std::unique_ptr<Connection> connection) {
    SessionsState::Add(state.counters.accepted);
    auto session = std::make_shared<Session>(std::move(connection), &state, Session::Mode::kServe);
    std::shared_ptr<Session> leaves;  // aborted after the lock is released
    {
      const std::lock_guard lock(mutex);
      if (state.stopping) return;
      const bool crowded = CountOf(session->address()) >= state.options.max_connections_per_address;
      if (crowded || served >= max_connections) {
        leaves = Displace(crowded ? &session->address() : nullptr);
        if (leaves == nullptr) {
          SessionsState::Add(state.counters.refused);
          if (sessions.size() >= served + kRefusedAloud) return;
          session->RefuseAll();
        }
      }
      Count(*session, 1);
      sessions.emplace(session.get(), Entry{session});
    }
    if (leaves != nullptr) leaves->Abort();
    session->Start();
  }
  // No descriptor is free: close one idle unauthenticated connection.
  void OnAcceptFailed() {
    SessionsState::Add(state.counters.accept_failures);
    std::shared_ptr<Session> leaves;
    {
      const std::lock_guard lock(mutex);
      leaves = Displace(nullptr);
    }
    if (leaves != nullptr) leaves->Abort();
  }

  // The caller of the following methods must hold the mutex.
  size_t CountOf(const std::string& address) const {
    const auto it = by_address.find(address);
    return it == by_address.end() ? 0 : it->second;
  }
  void Count(const Session& session, int by) {
    if (session.mode() != Session::Mode::kServe) return;
    served += static_cast<size_t>(by);
    size_t& n = by_address[session.address()];
    n += static_cast<size_t>(by);
    if (n == 0) by_address.erase(session.address());
  }
  // Removes the longest-waiting unauthenticated session from the counts and returns it; nullptr if there is
  // no such session. Considers the sessions of `address`; if `address` is null, the sessions of the address
  // with the most connections.
  std::shared_ptr<Session> Displace(const std::string* address) {
    Entry* best = nullptr;
    SilentConnection best_key;
    for (auto& [key, entry] : sessions) {
      const Session& s = *entry.session;
      const Session::Clock::rep since = s.stranger_since();
      if (entry.displaced || s.mode() != Session::Mode::kServe || since == Session::kNotWaiting) continue;
      if (address != nullptr && s.address() != *address) continue;
      const SilentConnection its{CountOf(s.address()), since};
      if (best != nullptr && !GoesBefore(its, best_key)) continue;
      best = &entry;
      best_key = its;
    }
    if (best == nullptr) return nullptr;
    best->displaced = true;
    Count(*best->session, -1);
    SessionsState::Add(state.counters.displaced);
    return best->session;
  }

  void Remove(Session* session) {
    std::shared_ptr<Session> last;  // destroyed after the lock is released: its destructor may call back
    const std::lock_guard lock(mutex);
    const auto it = sessions.find(session);
    if (it == sessions.end()) return;
    if (!it->second.displaced) Count(*session, -1);
    last = std::move(it->second.session);
    sessions.erase(it);
    if (sessions.empty()) all_ended.notify_all();
  }

  void Tick() {
    const auto now = Session::Clock::now();
    const std::lock_guard lock(mutex);
    for (const auto& [key, entry] : sessions) entry.session->Tick(now);
  }

  void Stop() {
    const std::lock_guard only_one(stop_mutex);
    if (state.stopping.exchange(true)) return;
    listener->StopAccepting();
    {
      std::unique_lock lock(mutex);
      for (const auto& [key, entry] : sessions) entry.session->StopSoon();
      all_ended.wait_for(lock, state.options.grace, [this] { return sessions.empty(); });
    }
    listener->Shut();
    state.slots.Clear();
    // All threads have ended: the remaining sessions can be ended from here.
    std::vector<std::shared_ptr<Session>> left;
    {
      const std::lock_guard lock(mutex);
      for (const auto& [key, entry] : sessions) left.push_back(entry.session);
    }
    for (const auto& session : left) session->End();
  }

  SessionsState state;
  std::unique_ptr<Listener> listener;
  const size_t max_connections;
  std::mutex stop_mutex;
  mutable std::mutex mutex;
  std::condition_variable all_ended;
  std::unordered_map<Session*, Entry> sessions;
  // Counts of sessions in mode kServe that are not displaced.
  size_t served = 0;
  std::unordered_map<std::string, size_t> by_address;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() { Stop(); }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const ServerOptions& options, Handler handler) {
  if (const absl::Status status = options.Check(); !status.ok()) return status;
  auto listener = Listener::Bind(options);
  if (!listener.ok()) return listener.status();
  auto impl = std::make_unique<Impl>(options, std::move(handler), std::move(*listener));
  Impl* const raw = impl.get();
  Listener::Calls calls;
  calls.on_accept = [raw](std::unique_ptr<Connection> connection) { raw->Accept(std::move(connection)); };
  calls.on_accept_failed = [raw] { raw->OnAcceptFailed(); };
  calls.on_tick = [raw] { raw->Tick(); };
  raw->listener->Run(std::move(calls));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

uint16_t HttpServer::port() const { return impl_->listener->port(); }
void HttpServer::Stop() { impl_->Stop(); }

absl::Status HttpServer::Reload(const ServerOptions& options) {
  ServerOptions merged = impl_->state.options;  // addresses and limits stay as they are
  merged.writer_tokens = options.writer_tokens;
  merged.group_tokens = options.group_tokens;
  merged.reader_tokens = options.reader_tokens;
  merged.platform_tokens = options.platform_tokens;
  merged.operator_tokens = options.operator_tokens;
  if (merged.has_tls() && options.has_tls()) {
    merged.certificate_file = options.certificate_file;
    merged.key_file = options.key_file;
    merged.client_ca_file = options.client_ca_file;
  }
  if (const absl::Status status = merged.Check(); !status.ok()) return status;
  // Reload TLS before the tokens: ReloadTls can fail, and the tokens must then stay unchanged.
  if (const absl::Status status = impl_->listener->ReloadTls(merged); !status.ok()) return status;
  impl_->state.SetAccess(std::make_shared<const Access>(merged));
  std::vector<std::shared_ptr<Session>> all;
  {
    const std::lock_guard lock(impl_->mutex);
    for (const auto& [key, entry] : impl_->sessions) all.push_back(entry.session);
  }
  // End the streams, because the former tokens authenticated them.
  for (const auto& session : all) session->EndStream();
  return absl::OkStatus();
}

ServerCounts HttpServer::counts() const {
  const SessionsState::Counters& from = impl_->state.counters;
  ServerCounts out;
  out.accepted = from.accepted;
  out.refused = from.refused;
  out.displaced = from.displaced;
  out.accept_failures = from.accept_failures;
  out.tls_failures = from.tls_failures;
  out.timed_out = from.timed_out;
  out.malformed = from.malformed;
  out.too_large = from.too_large;
  out.unauthorized = from.unauthorized;
  out.other_site = from.other_site;
  out.overloaded = from.overloaded;
  out.handler_exceptions = from.handler_exceptions;
  out.streams_cut = from.streams_cut;
  for (size_t i = 0; i < out.answers.size(); ++i) out.answers[i] = from.answers[i];
  out.bytes_in = from.bytes_in;
  out.bytes_out = from.bytes_out;
  out.open_streams = impl_->state.streams;
  const std::lock_guard lock(impl_->mutex);
  out.open_connections = impl_->sessions.size();
  return out;
}

}  // namespace taut
