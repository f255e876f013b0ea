#include "net/http_server.h"

#include <condition_variable>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/listener.h"
#include "net/session.h"

namespace taut {
namespace {

// How many connections over the limit still hear why.
constexpr size_t kRefusedAloud = 64;

}  // namespace

struct HttpServer::Impl {
  Impl(const ServerOptions& options, Handler handler, std::unique_ptr<Listener> l)
      : state(options, std::move(handler)), listener(std::move(l)) {
    state.on_end = [this](Session* session) { Remove(session); };
  }

  void Accept(std::unique_ptr<Connection> connection) {
    state.counters.accepted.fetch_add(1, std::memory_order_relaxed);
    std::shared_ptr<Session> session;
    {
      const std::lock_guard lock(mutex);
      const size_t open = sessions.size();
      const bool over = open >= state.options.max_connections;
      if (over) state.counters.refused.fetch_add(1, std::memory_order_relaxed);
      if (state.stopping || open >= state.options.max_connections + kRefusedAloud) {
        connection->Close();
        return;
      }
      session = std::make_shared<Session>(std::move(connection), &state,
                                          over ? Session::Mode::kRefuse : Session::Mode::kServe);
      sessions.emplace(session.get(), session);
    }
    session->Start();
  }

  void Remove(Session* session) {
    std::shared_ptr<Session> last;  // ends outside of the lock
    const std::lock_guard lock(mutex);
    const auto it = sessions.find(session);
    if (it == sessions.end()) return;
    last = std::move(it->second);
    sessions.erase(it);
    if (sessions.empty()) all_ended.notify_all();
  }

  void Tick() {
    const auto now = Session::Clock::now();
    const std::lock_guard lock(mutex);
    for (const auto& [key, session] : sessions) session->Tick(now);
  }

  void Stop() {
    const std::lock_guard only_one(stop_mutex);
    if (state.stopping.exchange(true)) return;
    listener->StopAccepting();
    {
      std::unique_lock lock(mutex);
      for (const auto& [key, session] : sessions) session->StopSoon();
      all_ended.wait_for(lock, state.options.grace, [this] { return sessions.empty(); });
    }
    listener->Shut();
    state.slots.Clear();
    // No thread runs any more: what is left can be ended from here.
    std::vector<std::shared_ptr<Session>> left;
    {
      const std::lock_guard lock(mutex);
      for (const auto& [key, session] : sessions) left.push_back(session);
    }
    for (const auto& session : left) session->End();
  }

  SessionsState state;
  std::unique_ptr<Listener> listener;
  std::mutex stop_mutex;
  mutable std::mutex mutex;
  std::condition_variable all_ended;
  std::unordered_map<Session*, std::shared_ptr<Session>> sessions;
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
  calls.on_tick = [raw] { raw->Tick(); };
  raw->listener->Run(std::move(calls));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

uint16_t HttpServer::port() const { return impl_->listener->port(); }
void HttpServer::Stop() { impl_->Stop(); }

ServerCounts HttpServer::counts() const {
  const SessionsState::Counters& from = impl_->state.counters;
  ServerCounts out;
  out.accepted = from.accepted;
  out.refused = from.refused;
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
