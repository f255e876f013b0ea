#include "common/net/session.h"

#include <arpa/inet.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "common/base/strings.h"
#include "common/net/compress.h"
#include "common/net/response_head.h"
#include "fmt/format.h"

namespace taut {
namespace {

constexpr auto kNever = std::numeric_limits<Session::Clock::rep>::max();
constexpr size_t kBodyBufferBytes = 64 << 10;
constexpr size_t kFirstBufferBytes = 4 << 10;
// Capacity of a body that is kept for the next request.
constexpr size_t kKeptBodyBytes = 256 << 10;
constexpr std::chrono::milliseconds kFinishTimeout{2000};
constexpr std::chrono::milliseconds kLastFinishTimeout{250};  // timeout of Finish while the server stops
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::string_view kHeartbeat = ":\n\n";

}  // namespace

Session::Session(std::unique_ptr<Connection> connection, SessionsState* state, Mode mode)
    : connection_(std::move(connection)),
      state_(state),
      mode_(mode),
      parser_(state->options.max_header_bytes),
      began_(Clock::now()),
      address_(NetworkOfPeer(connection_->peer())),
      stranger_since_(began_.time_since_epoch().count()) {
  SetDeadline(began_ + state->options.header_timeout);
  request_.peer = connection_->peer();
}

void Session::Start() { connection_->Open(shared_from_this()); }

void Session::OnOpen() {
  if (phase_ == Phase::kEnded) return;
  BeginRequest();
  SetDeadline(Clock::now() + state_->options.header_timeout);
}

void Session::OnFailed() {
  if (phase_ == Phase::kOpening && state_->options.has_tls())
    SessionsState::Add(state_->counters.tls_failures);
  End();
}

void Session::BeginRequest() {
  phase_ = Phase::kIdle;
  request_done_ = false;
  parser_.Begin(&request_);
  began_ = Clock::now();
  if (in_begin_ < in_end_) {
    Parse();
  } else {
    const bool trusted = authenticated_ || state_->options.is_open();
    SetDeadline(began_ + (trusted ? state_->options.idle_timeout : state_->options.header_timeout));
    if (!authenticated_) stranger_since_.store(began_.time_since_epoch().count(), std::memory_order_relaxed);
    ReadMore();
  }
}

void Session::ReadMore() {
  if (in_begin_ > 0) {
    in_.replace(0, in_end_ - in_begin_, in_, in_begin_, in_end_ - in_begin_);
    in_end_ -= in_begin_;
    in_begin_ = 0;
  }
  const size_t most = phase_ == Phase::kBody ? kBodyBufferBytes : state_->options.max_header_bytes + 1;
  if (in_.size() < kFirstBufferBytes) in_.resize(kFirstBufferBytes);
  // Let the buffer grow with the bytes received, so that an idle connection costs little memory.
  if (in_end_ * 2 > in_.size()) in_.resize(std::max(in_.size(), std::min(in_.size() * 4, most)));
  if (in_end_ == in_.size()) {
    Refuse(phase_ == Phase::kBody ? 400 : 431, "a line of the request does not end");
    return;
  }
  connection_->Read(shared_from_this(), in_.data() + in_end_, in_.size() - in_end_);
}

void Session::OnRead(size_t bytes) {
  SessionsState::Add(state_->counters.bytes_in, bytes);
  if (phase_ == Phase::kEnded) return;
  if (bytes == 0 && phase_ != Phase::kWriting) {
    // An event stream ends here, too: a client that reads events keeps its side open.
    End();
    return;
  }
  // A read may be outstanding after the response: the request arrived too slowly, or a stream ended.
  if (phase_ == Phase::kWriting || phase_ == Phase::kFinishing) {
    client_finished_ = bytes == 0;
    return;
  }
  if (phase_ == Phase::kStreaming) {
    connection_->Read(shared_from_this(), in_.data(), in_.size());
    return;
  }
  in_end_ += bytes;
  Parse();
}

void Session::Parse() {
  if (phase_ == Phase::kIdle) {
    phase_ = Phase::kHeader;
    began_ = Clock::now();
    SetDeadline(began_ + state_->options.header_timeout);
  }
  while (true) {
    size_t used = 0;
    const ParseState state = parser_.Put(std::string_view(in_).substr(in_begin_, in_end_ - in_begin_), &used);
    in_begin_ += used;
    if (in_begin_ == in_end_) in_begin_ = in_end_ = 0;
    switch (state) {
      case ParseState::kHeaderDone:
        if (!TakeHeader()) return;
        continue;
      case ParseState::kBody:
        if (!TakeBodyBytes()) return;
        if (used > 0 && in_begin_ < in_end_) continue;
        ReadMore();
        return;
      case ParseState::kHeader:
        if (used > 0 && in_begin_ < in_end_) continue;
        ReadMore();
        return;
      case ParseState::kDone:
        request_done_ = true;
        Handle();
        return;
      case ParseState::kMalformed:
        Refuse(400, StrCat("invalid HTTP/1.1 request: ", parser_.error()));
        return;
      case ParseState::kHeaderTooLarge:
        Refuse(431, StrCat("the header exceeds ", state_->options.max_header_bytes, " bytes"));
        return;
      case ParseState::kBodyTooLarge:
        Refuse(413, StrCat("the body exceeds ", state_->options.BodyLimitOf(request_.path), " bytes"));
        return;
    }
  }
}

bool Session::TakeHeader() {
  keep_alive_ = parser_.keep_alive();
  const auto length = parser_.content_length();
  const std::string* encoding = request_.header("Transfer-Encoding");
  // Set before any refusal: Answer keeps the connection only if the request has no unread body.
  request_done_ = encoding == nullptr && length.value_or(0) == 0;
  if (mode_ == Mode::kRefuse) {
    Refuse(503, "too many connections; retry");
    return false;
  }
  if (parser_.is_http11() && request_.header("Host") == nullptr) {
    Refuse(400, "the Host header is missing");
    return false;
  }
  if (encoding != nullptr && !EqualsIgnoreCase(*encoding, "chunked")) {
    Refuse(501, "unsupported Transfer-Encoding; only chunked is supported");
    return false;
  }
  const std::shared_ptr<const Access> access = state_->access();
  Caller caller = access->CallerOf(request_, connection_->client_certificate());
  request_.role = caller.role;
  request_.user = std::move(caller.user);
  request_.bindings = std::move(caller.bindings);
  request_.valid_until_s = caller.valid_until_s;
  request_.by_session = caller.by_session;
  request_.refusal = std::move(caller.refusal);
  authenticated_ = authenticated_ || caller.authenticated;
  if (auto refusal = access->Refuse(request_)) {
    auto& counters = state_->counters;
    SessionsState::Add(refusal->status == 401   ? counters.unauthorized
                       : refusal->status == 400 ? counters.malformed
                                                : counters.other_site);
    request_done_ = request_done_ && refusal->status != 400;  // 400: the next request's start is unknown
    Answer(std::move(*refusal));
    return false;
  }
  stranger_since_.store(kNotWaiting, std::memory_order_relaxed);
  const size_t limit = state_->options.BodyLimitOf(request_.path);
  parser_.set_max_body_bytes(limit);
  if (length.value_or(0) > limit) {
    Refuse(413, StrCat("the body exceeds ", limit, " bytes"));
    return false;
  }
  if (request_done_) return true;
  phase_ = Phase::kBody;
  began_ = Clock::now();
  // A client that has already begun to send its body needs no "100 Continue".
  if (parser_.expects_continue() && in_begin_ == in_end_) {
    head_ = kContinue;
    response_ = {};
    written_ = 0;
    WriteRest();
    return false;
  }
  return true;
}

bool Session::TakeBodyBytes() {
  const size_t bytes = request_.body.size();
  // Count only bytes that arrived, not the announced length: clients may announce much and send nothing.
  const size_t more = bytes - counted_body_bytes_;
  counted_body_bytes_ = bytes;
  const size_t all = state_->buffered_bytes.fetch_add(more, std::memory_order_relaxed) + more;
  if (all > state_->options.max_buffered_bytes) {
    Refuse(503, "server busy: the memory limit of request bodies is reached; retry");
    return false;
  }
  SetDeadline(began_ + TimeFor(bytes, state_->options.body_timeout));
  return true;
}

void Session::DropBody() {
  state_->buffered_bytes.fetch_sub(counted_body_bytes_, std::memory_order_relaxed);
  counted_body_bytes_ = 0;
  request_.body.clear();
  if (request_.body.capacity() > kKeptBodyBytes) request_.body.shrink_to_fit();
}

void Session::Handle() {
  phase_ = Phase::kHandling;
  SetDeadline(Clock::time_point::max());
  if (state_->slots.Enter(shared_from_this())) RunHandler();
}

void Session::RunHandler() {
  HttpResponse response;
  if (phase_ == Phase::kHandling) {
    const auto fail = [&](std::string_view what) {
      SessionsState::Add(state_->counters.handler_exceptions);
      if (state_->options.on_exception) state_->options.on_exception(request_, what);
      response = ErrorResponse(500, "internal error");
    };
    try {
      response = state_->handler(request_);
    } catch (const std::exception& e) {
      fail(e.what());
    } catch (...) {
      fail("not a std::exception");
    }
  }
  // Release the slot even if this session has ended meanwhile. Post the next handler, because this thread must not
  // run it: the handler's session has a strand of its own.
  if (auto next = state_->slots.Leave()) {
    Connection& connection = *next->connection_;
    connection.Post([next = std::move(next)] { next->RunHandler(); });
  }
  if (phase_ != Phase::kHandling) return;
  if (state_->options.compress) CompressFor(request_, &response);
  Answer(std::move(response));
}

void Session::Refuse(int status, std::string_view text) {
  auto& counters = state_->counters;
  if (status == 400 || status == 501) SessionsState::Add(counters.malformed);
  if (status == 413 || status == 431) SessionsState::Add(counters.too_large);
  if (status == 408) SessionsState::Add(counters.timed_out);
  if (status == 429 || (status == 503 && mode_ == Mode::kServe)) SessionsState::Add(counters.overloaded);
  HttpResponse response = ErrorResponse(status, text);
  request_done_ = false;
  Answer(std::move(response));
}

// Returns false if another response was sent instead.
bool Session::CountStream() {
  const auto drop = [this] {
    response_.stream->Detach();
    response_.stream.reset();
  };
  if (parser_.is_head()) {
    drop();
    return true;
  }
  stream_caller_ = request_.user.empty() ? StrCat("address ", address_)
                                         : StrCat(static_cast<int>(request_.role), " ", request_.user);
  const SessionsState::StreamRoom room = state_->EnterStream(stream_caller_);
  counts_as_stream_ = room == SessionsState::StreamRoom::kEntered;
  if (counts_as_stream_) return true;
  drop();
  if (room == SessionsState::StreamRoom::kNoneForCaller) {
    Refuse(429,
           StrCat("you have ", state_->options.max_streams_per_caller,
                  " event streams open, the most of one caller (server.limits.streams_per_caller): close "
                  "one first"));
  } else {
    Refuse(503, "too many event streams are open; retry");
  }
  return false;
}

void Session::Answer(HttpResponse response) {
  DropBody();
  response_ = std::move(response);
  if (response_.stream && !CountStream()) return;
  if (response_.status < 200 || response_.status > 599) response_.status = 500;
  SessionsState::Add(state_->counters.answers[static_cast<size_t>(response_.status / 100)]);
  // Close the connection if unread bytes of the request are left: they would be parsed as the next request.
  keep_alive_ = keep_alive_ && request_done_ && !state_->stopping && !response_.stream;
  head_.clear();
  AppendResponseHead(response_, state_->options.default_headers,
                     !keep_alive_          ? KeepAlive::kNo
                     : parser_.is_http11() ? KeepAlive::kYes
                                           : KeepAlive::kYesAloud,
                     &head_);
  if (!HasBody(response_) || parser_.is_head()) {
    response_.body.clear();
    response_.shared_body.reset();
  }
  phase_ = Phase::kWriting;
  began_ = Clock::now();
  written_ = 0;
  WriteRest();
}

void Session::WriteRest() {
  writing_ = true;
  if (phase_ != Phase::kBody) SetDeadline(began_ + TimeFor(written_, state_->options.write_timeout));
  const std::string_view body = response_.text();
  if (written_ < head_.size()) {
    connection_->Write(shared_from_this(), std::string_view(head_).substr(written_), body);
  } else {
    connection_->Write(shared_from_this(), body.substr(written_ - head_.size()), {});
  }
}

void Session::OnWritten(size_t bytes) {
  SessionsState::Add(state_->counters.bytes_out, bytes);
  writing_ = false;
  if (phase_ == Phase::kEnded) return;
  written_ += bytes;
  if (written_ < head_.size() + response_.text().size()) {
    WriteRest();
    return;
  }
  switch (phase_) {
    case Phase::kBody:  // "100 Continue" is sent
      ReadMore();
      return;
    case Phase::kStreaming:
      PumpStream();
      return;
    default:
      Answered();
  }
}

void Session::Answered() {
  if (response_.stream) {
    BeginStream();
  } else if (keep_alive_ && !state_->stopping) {
    response_ = {};
    BeginRequest();
  } else {
    Finish();
  }
}

void Session::Finish() {
  if (client_finished_) {
    End();
    return;
  }
  phase_ = Phase::kFinishing;
  // Count the connection as idle and unauthenticated: a client that never closes its side must not block others.
  if (!authenticated_)
    stranger_since_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  SetDeadline(Clock::now() + (state_->stopping ? kLastFinishTimeout : kFinishTimeout));
  connection_->Finish(shared_from_this());
}

void Session::BeginStream() {
  phase_ = Phase::kStreaming;
  // Keep a read outstanding, to detect that the client disconnects.
  in_.resize(kFirstBufferBytes);
  connection_->Read(shared_from_this(), in_.data(), in_.size());
  response_.stream->Attach(
      [this] { connection_->Post([self = shared_from_this()] { self->PumpStream(); }); });
  if (state_->stopping) response_.stream->Close();
}

void Session::PumpStream() {
  if (phase_ != Phase::kStreaming) return;
  EventStream& stream = *response_.stream;
  if (stream.cut()) {
    SessionsState::Add(state_->counters.streams_cut);
    End();
    return;
  }
  if (writing_) return;
  // Read closed() before Take(): events that were published before Close() must still be sent.
  const bool last = stream.closed();
  const auto frames = stream.Take();
  head_.clear();
  for (const auto& frame : frames) head_ += *frame;
  written_ = 0;
  began_ = Clock::now();
  if (!frames.empty()) {
    WriteRest();
  } else if (last) {
    Finish();
  } else {
    SetDeadline(began_ + state_->options.heartbeat);
  }
}

Session::Clock::duration Session::TimeFor(size_t bytes, ServerOptions::Duration base) const {
  const size_t rate = std::max<size_t>(state_->options.min_bytes_per_second, 1);
  return base + std::chrono::milliseconds(bytes * 1000 / rate);
}

void Session::SetDeadline(Clock::time_point at) {
  deadline_ = at;
  alarm_.store(at.time_since_epoch().count(), std::memory_order_relaxed);
}

void Session::Tick(Clock::time_point now) {
  if (now.time_since_epoch().count() < alarm_.load(std::memory_order_relaxed)) return;
  // Until OnAlarm has run, further ticks must not post OnAlarm again. OnAlarm checks deadline_, which only
  // functions on the connection's strand may read.
  alarm_.store(kNever, std::memory_order_relaxed);
  connection_->Post([self = shared_from_this()] { self->OnAlarm(); });
}

void Session::OnAlarm() {
  if (phase_ == Phase::kEnded) return;
  if (Clock::now() < deadline_) {  // the deadline was extended after Tick posted OnAlarm
    SetDeadline(deadline_);
    return;
  }
  switch (phase_) {
    case Phase::kHeader:
    case Phase::kBody:
      if (writing_) {
        SessionsState::Add(state_->counters.timed_out);
        End();
      } else {
        Refuse(408, "the request took too long to arrive");
      }
      return;
    case Phase::kStreaming:
      if (writing_) {
        SessionsState::Add(state_->counters.streams_cut);
        End();
      } else {
        head_ = kHeartbeat;
        written_ = 0;
        began_ = Clock::now();
        WriteRest();
      }
      return;
    case Phase::kWriting:
      SessionsState::Add(state_->counters.timed_out);
      break;
    case Phase::kOpening:
      if (state_->options.has_tls()) SessionsState::Add(state_->counters.tls_failures);
      break;
    default:
      break;
  }
  End();
}

void Session::StopSoon() {
  connection_->Post([self = shared_from_this()] {
    if (self->phase_ == Phase::kIdle || self->phase_ == Phase::kOpening) self->End();
    if (self->phase_ == Phase::kStreaming) self->response_.stream->Close();
    if (self->phase_ == Phase::kFinishing) self->SetDeadline(Clock::now() + kLastFinishTimeout);
  });
}

void Session::EndStream() {
  connection_->Post([self = shared_from_this()] {
    if (self->phase_ == Phase::kStreaming) self->response_.stream->Close();
  });
}

void Session::Abort() {
  connection_->Post([self = shared_from_this()] { self->End(); });
}

void Session::End() {
  if (phase_ == Phase::kEnded) return;
  phase_ = Phase::kEnded;
  connection_->Close();
  if (response_.stream) response_.stream->Detach();
  if (counts_as_stream_) state_->LeaveStream(stream_caller_);
  DropBody();
  // This call must be the last: the server drops its reference here, and `this` may be destroyed.
  state_->on_end(this);
}

}  // namespace taut
