// One client's connection: request after request, each handled before the next is read.
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

class Session final : public ConnectionUser, public std::enable_shared_from_this<Session> {
 public:
  using Clock = std::chrono::steady_clock;
  // kRefuse: answers the first request with 503.
  enum class Mode : uint8_t { kServe, kRefuse };
  Session(std::unique_ptr<Connection> connection, SessionsState* state, Mode mode);
  // Mode kRefuse. Before Start().
  void RefuseAll() { mode_ = Mode::kRefuse; }

  // These four from any thread.
  void Start();
  void Tick(Clock::time_point now);  // sees to timeouts and heartbeats
  void StopSoon();                   // after the request in flight
  void Abort();
  void EndStream();  // if it is one: the client asks again
  // Since when it waits for a request though it has never shown a token or a certificate; kNotWaiting: it
  // does not. From any thread.
  static constexpr Clock::rep kNotWaiting = std::numeric_limits<Clock::rep>::max();
  Clock::rep stranger_since() const { return stranger_since_.load(std::memory_order_relaxed); }
  Mode mode() const { return mode_; }
  // "192.0.2.7", or the first 64 bits of an IPv6 address.
  const std::string& address() const { return address_; }
  // Like Abort, at once, when the connection's threads are gone.
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

  // Reading.
  void BeginRequest();
  void ReadMore();
  void Parse();
  bool TakeHeader();  // false: answered
  bool TakeBodyBytes();
  void DropBody();
  // Answering.
  void Handle();  // now, or when a slot is free
  void RunHandler();
  void Refuse(int status, std::string_view text);
  void Answer(HttpResponse response);
  bool CountStream();
  void WriteRest();
  void Answered();
  void Finish();
  // Streaming.
  void BeginStream();
  void PumpStream();
  // Time.
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
  size_t counted_body_bytes_ = 0;  // of ours in state_->buffered_bytes
  Clock::time_point began_;        // of what phase_ is about
  bool keep_alive_ = false;
  bool request_done_ = false;  // its last byte is parsed
  bool writing_ = false;
  bool client_finished_ = false;  // said so after its last request was read
  std::string head_;              // being written, then response_.text()
  HttpResponse response_;         // its bodies are empty if none is sent
  size_t written_ = 0;
  bool counts_as_stream_ = false;
  std::string stream_caller_;  // while it counts as one
  Clock::time_point deadline_;
  std::atomic<Clock::rep> alarm_;  // of deadline_, for Tick
  const std::string address_;
  bool authenticated_ = false;  // a request of this connection was
  std::atomic<Clock::rep> stranger_since_;
};

}  // namespace taut
