// One client's connection: a state machine that reads, handles and answers one request before it reads the
// next request.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "common/net/connection.h"
#include "common/net/event_stream.h"
#include "common/net/http.h"
#include "common/net/message_parser.h"
#include "common/net/server_options.h"
#include "common/net/sessions_state.h"

namespace taut {

// The state changes only on the connection's strand. Methods that other threads call only post to the connection
// or read atomics. Owned by shared pointers: outstanding operations keep the session alive.
class Session final : public ConnectionUser, public std::enable_shared_from_this<Session> {
 public:
  using Clock = std::chrono::steady_clock;
  // kRefuse answers the first request with 503.
  enum class Mode : uint8_t { kServe, kRefuse };
  Session(std::unique_ptr<Connection> connection, SessionsState* state, Mode mode);
  // Switches to kRefuse. Call it before Start().
  void RefuseAll() { mode_ = Mode::kRefuse; }

  // The next five methods are thread-safe.
  void Start();
  void Tick(Clock::time_point now);  // handles timeouts and heartbeats
  void StopSoon();                   // ends after the current request
  void Abort();
  void EndStream();  // ends the response if it is an event stream; the client reconnects
  // Time at which a connection that never authenticated began to wait for a request or for its close, in ticks of
  // Clock; kNotWaiting during a request and after an authentication. Thread-safe.
  static constexpr Clock::rep kNotWaiting = std::numeric_limits<Clock::rep>::max();
  Clock::rep stranger_since() const { return stranger_since_.load(std::memory_order_relaxed); }
  Mode mode() const { return mode_; }
  // The peer's network: "192.0.2.7", or the first 64 bits of an IPv6 address.
  const std::string& address() const { return address_; }
  // Aborts at once. Call it only on the connection's strand, or after the listener's threads have ended.
  void End();

  void OnOpen() override;
  void OnRead(size_t bytes) override;
  void OnWritten(size_t bytes) override;
  void OnFailed() override;

 private:
  enum class Phase : uint8_t {
    kOpening,
    kIdle,
    kHeader,
    kBody,
    kHandling,
    kWriting,
    kStreaming,
    kFinishing,
    kEnded
  };

  // Methods that read requests.
  void BeginRequest();
  void ReadMore();
  void Parse();
  bool TakeHeader();  // returns false if a response was already sent
  bool TakeBodyBytes();
  void DropBody();
  // Methods that answer requests.
  void Handle();  // runs the handler now, or when a slot is free
  void RunHandler();
  void Refuse(int status, std::string_view text);
  void Answer(HttpResponse response);
  bool CountStream();
  void WriteRest();
  void Answered();
  void Finish();
  // Methods of event streams.
  void BeginStream();
  void PumpStream();
  // Methods of deadlines.
  void SetDeadline(Clock::time_point at);
  Clock::duration TimeFor(size_t bytes, ServerOptions::Duration base) const;
  void OnAlarm();

  const std::unique_ptr<Connection> connection_;
  SessionsState* const state_;
  Mode mode_;
  Phase phase_ = Phase::kOpening;
  RequestParser parser_;
  HttpRequest request_;
  std::string in_;  // bytes in_[in_begin_, in_end_) are read and not parsed
  size_t in_begin_ = 0;
  size_t in_end_ = 0;
  size_t counted_body_bytes_ = 0;  // this session's part of state_->buffered_bytes
  Clock::time_point began_;        // start of the current phase
  bool keep_alive_ = false;
  bool request_done_ = false;  // true once the request's last byte is parsed
  bool writing_ = false;
  bool client_finished_ = false;  // true if the client closed its side after its last request
  std::string head_;              // response head that is being written, followed by response_.text()
  HttpResponse response_;         // the bodies are cleared if no body is sent
  size_t written_ = 0;
  bool counts_as_stream_ = false;
  std::string stream_caller_;  // caller under which the stream is counted (SessionsState::EnterStream)
  Clock::time_point deadline_;
  std::atomic<Clock::rep> alarm_;  // deadline_ as ticks, for Tick on other threads
  const std::string address_;
  bool authenticated_ = false;  // true once a request of this connection was authenticated
  std::atomic<Clock::rep> stranger_since_;
};

}  // namespace taut
