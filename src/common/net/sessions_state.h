// State that all sessions of a server share and that outlives the sessions. The fields are thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/net/access.h"
#include "common/net/handler_slots.h"
#include "common/net/http.h"
#include "common/net/server_options.h"

namespace taut {

class Session;

struct SessionsState {
  SessionsState(const ServerOptions& o, std::function<HttpResponse(const HttpRequest&)> h)
      : options(o), handler(std::move(h)), slots(o.threads), access_(std::make_shared<const Access>(o)) {}

  using Count = std::atomic<uint64_t>;
  static void Add(Count& count, uint64_t n = 1) { count.fetch_add(n, std::memory_order_relaxed); }
  struct Counters {
    Count accepted{0}, refused{0}, timed_out{0}, malformed{0}, too_large{0}, unauthorized{0}, other_site{0},
        overloaded{0}, displaced{0}, accept_failures{0}, tls_failures{0}, handler_exceptions{0},
        streams_cut{0}, bytes_in{0}, bytes_out{0};
    std::array<Count, 6> answers{};
  };

  const ServerOptions options;
  const std::function<HttpResponse(const HttpRequest&)> handler;
  HandlerSlots<Session> slots;
  std::function<void(Session*)> on_end;  // called once per session, on the strand of its connection
  Counters counters;
  std::atomic<size_t> buffered_bytes{0};
  std::atomic<size_t> streams{0};
  std::atomic<bool> stopping{false};

  // kNone: the server already has max_streams streams, or stops. kNoneForCaller: the caller already has
  // max_streams_per_caller streams.
  enum class StreamRoom : uint8_t { kEntered, kNone, kNoneForCaller };
  // Counts a stream. After kEntered, LeaveStream must be called when the stream ends.
  StreamRoom EnterStream(const std::string& caller);
  void LeaveStream(const std::string& caller);

  // Returns the current rules of access. SetAccess replaces them at a reload; callers keep the object that
  // they received.
  std::shared_ptr<const Access> access() const {
    const std::lock_guard lock(access_mutex_);
    return access_;
  }
  void SetAccess(std::shared_ptr<const Access> access) {
    const std::lock_guard lock(access_mutex_);
    access_ = std::move(access);
  }

 private:
  mutable std::mutex access_mutex_;
  std::shared_ptr<const Access> access_;
  std::mutex streams_mutex_;
  std::map<std::string, size_t> streams_of_;  // streams by caller; never 0
};

}  // namespace taut
