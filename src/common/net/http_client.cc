#include "common/net/http_client.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "common/base/strings.h"
#include "common/net/client_socket.h"
#include "common/net/event_reader.h"
#include "common/net/message_parser.h"

namespace taut {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kMaxEventBytes = 16 << 20;

// Splits bytes into lines.
class LineCutter {
 public:
  using LineFn = std::function<bool(std::string_view)>;
  explicit LineCutter(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Returns false if on_line returned false, or if a line exceeds `max_bytes`.
  bool Put(std::string_view bytes, const LineFn& on_line) {
    while (!bytes.empty()) {
      const size_t end = std::min(bytes.find('\n'), bytes.size());
      const std::string_view part = bytes.substr(0, end);
      too_large_ = line_.size() + part.size() > max_bytes_;
      if (too_large_) return false;
      const bool whole = end < bytes.size();
      bytes.remove_prefix(std::min(end + 1, bytes.size()));
      if (!whole || !line_.empty()) line_.append(part);
      if (!whole) return true;
      const bool go_on = on_line(line_.empty() ? part : std::string_view(line_));
      line_.clear();
      if (!go_on) return false;
    }
    return true;
  }
  void End(const LineFn& on_line) {
    if (!line_.empty()) on_line(line_);
  }
  bool too_large() const { return too_large_; }

 private:
  const size_t max_bytes_;
  std::string line_;
  bool too_large_ = false;
};

struct BaseUrl {
  bool is_https = false;
  std::string socket_path;  // path of a Unix socket; "" for TCP
  std::string host;         // host for the resolver, without brackets
  std::string authority;    // text of the Host header
  std::string port;
  std::string prefix;  // prefix of paths; "" or "/x"
};

absl::StatusOr<BaseUrl> ParseBaseUrl(std::string_view text) {
  BaseUrl out;
  if (constexpr std::string_view kUnix = "unix://"; text.starts_with(kUnix)) {
    out.socket_path = text.substr(kUnix.size());
    out.authority = "localhost";
    if (out.socket_path.starts_with('/')) return out;
    return absl::InvalidArgumentError(
        StrCat("'", text, "': invalid address of a Unix socket; expected unix:///PATH"));
  }
  const auto bad = [&](std::string_view why) {
    return absl::InvalidArgumentError(
        StrCat("'", text, "': invalid server URL: ", why, "; expected one such as http://127.0.0.1:9190"));
  };
  const size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return bad("http:// or https:// is missing");
  const std::string_view scheme = text.substr(0, scheme_end);
  out.is_https = EqualsIgnoreCase(scheme, "https");
  if (!out.is_https && !EqualsIgnoreCase(scheme, "http")) return bad("neither http nor https");
  std::string_view rest = text.substr(scheme_end + 3);
  const size_t slash = std::min(rest.find('/'), rest.size());
  out.prefix = rest.substr(slash);
  while (!out.prefix.empty() && out.prefix.back() == '/') out.prefix.pop_back();
  if (out.prefix.find_first_of("?# ") != std::string::npos) return bad("a query is not allowed");
  rest = rest.substr(0, slash);
  if (rest.find_first_of("@?# ") != std::string_view::npos)
    return bad("only a host and a port are allowed after //");
  out.authority = rest;
  const size_t bracket = rest.rfind(']');
  const size_t colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
  out.port =
      colon == std::string_view::npos ? out.is_https ? "443" : "80" : std::string(rest.substr(colon + 1));
  out.host = rest.substr(0, colon);
  if (bracket != std::string_view::npos) {
    if (out.host.size() < 3 || out.host.front() != '[' || out.host.back() != ']')
      return bad("the host is invalid");
    out.host = out.host.substr(1, out.host.size() - 2);
  }
  if (out.host.empty()) return bad("the host is missing");
  const bool digits =
      std::all_of(out.port.begin(), out.port.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || out.port.empty() || out.port.size() > 5) return bad("the port is not a number");
  return out;
}

}  // namespace

struct HttpClient::Impl {
  std::string base_text;
  BaseUrl base;
  ClientOptions options;
  std::shared_ptr<ClientTls> tls;
  std::unique_ptr<ClientSocket> socket;
  std::mutex socket_mutex;  // guards replacements of `socket` against Interrupt
  bool interrupted = false;
  std::string buffer;  // received bytes that are not parsed yet: [0, buffered)
  size_t buffered = 0;

  absl::Status Explain(const absl::Status& status, std::string_view path) const {
    const bool unreachable = status.code() == absl::StatusCode::kUnavailable;
    return absl::Status(status.code(), StrCat(base_text, path, ": ", Message(status),
                                              unreachable && !options.unreachable_hint.empty() ? "; " : "",
                                              unreachable ? options.unreachable_hint : ""));
  }

  absl::Status EnsureConnected(Clock::time_point deadline) {
    if (socket && !socket->IsStale()) return absl::OkStatus();
    Drop();
    buffered = 0;
    const Clock::time_point connect_deadline = std::min(deadline, Clock::now() + options.connect_timeout);
    auto connected = base.socket_path.empty()
                         ? ClientSocket::Connect(base.host, base.port, tls, connect_deadline)
                         : ClientSocket::ConnectUnix(base.socket_path, connect_deadline);
    if (!connected.ok()) return connected.status();
    const std::lock_guard lock(socket_mutex);
    if (interrupted) return absl::UnavailableError("the client was stopped");
    socket = std::move(*connected);
    return absl::OkStatus();
  }

  void Drop() {
    const std::lock_guard lock(socket_mutex);
    socket.reset();
  }

  std::string Head(const Request& request) const {
    std::string out = StrCat(request.method, " ", base.prefix, request.path,
                             " HTTP/1.1\r\nHost: ", base.authority, "\r\nUser-Agent: tautline\r\n");
    if (!options.token.empty()) StrAppend(&out, "Authorization: Bearer ", options.token, "\r\n");
    if (!request.content_type.empty()) StrAppend(&out, "Content-Type: ", request.content_type, "\r\n");
    const bool may_have_body = request.method != "GET" && request.method != "HEAD";
    if (may_have_body || !request.body.empty())
      StrAppend(&out, "Content-Length: ", request.body.size(), "\r\n");
    for (const HttpHeader& header : request.headers) StrAppend(&out, header.name, ": ", header.value, "\r\n");
    out += "\r\n";
    return out;
  }

  // Parses buffered bytes, reading more if needed, up to the next state. Sets `read_any` once the server sent
  // any byte.
  absl::StatusOr<ParseState> Advance(ResponseParser& parser, Clock::time_point deadline, bool* read_any) {
    while (true) {
      size_t used = 0;
      const ParseState state = parser.Put(std::string_view(buffer).substr(0, buffered), &used);
      buffer.replace(0, buffered - used, buffer, used, buffered - used);
      buffered -= used;
      const bool wants_more = state == ParseState::kHeader || state == ParseState::kBody;
      if (!wants_more || used > 0) return state;
      if (buffer.size() < buffered + kReadBytes) buffer.resize(buffered + kReadBytes);
      const auto read = socket->Read(buffer.data() + buffered, kReadBytes, deadline);
      if (!read.ok()) return read.status();
      if (*read == 0) return parser.PutEnd();
      *read_any = true;
      buffered += *read;
    }
  }

  absl::Status ParseFailure(const ResponseParser& parser, ParseState state) const {
    if (state == ParseState::kBodyTooLarge) {
      return absl::ResourceExhaustedError(
          StrCat("the response has more than ", options.max_body_bytes, " bytes"));
    }
    return absl::DataLossError(StrCat("the response is not HTTP/1.1: ", parser.error()));
  }

  // Sends the request once over the open connection.
  absl::StatusOr<HttpResponse> Exchange(const Request& request, Clock::time_point deadline, bool* read_any) {
    const absl::Status written = socket->Write(Head(request), request.body, deadline);
    // A server that rejects a body closes the connection while we write: its response may nevertheless be
    // readable.
    if (!written.ok() && written.code() != absl::StatusCode::kUnavailable) return written;
    while (true) {
      const auto kind =
          request.method == "HEAD" ? ResponseParser::Body::kNone : ResponseParser::Body::kAsSaid;
      ResponseParser parser(options.max_body_bytes, kind);
      ParseState state = ParseState::kHeader;
      while (state != ParseState::kDone) {
        auto next = Advance(parser, deadline, read_any);
        if (!next.ok()) return next.status();
        state = *next;
        if (state == ParseState::kMalformed && !*read_any)
          return absl::UnavailableError("the connection was closed");
        if (state > ParseState::kDone) return ParseFailure(parser, state);
        if (state == ParseState::kHeaderDone && parser.response().status < 200) break;
      }
      if (state != ParseState::kDone || parser.response().status < 200) continue;  // an interim response
      if (!parser.keep_alive() || !written.ok()) Drop();
      return std::move(parser.response());
    }
  }
};

HttpClient::HttpClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpClient::~HttpClient() = default;

absl::StatusOr<std::unique_ptr<HttpClient>> HttpClient::Create(std::string_view base_url,
                                                               const ClientOptions& options) {
  auto impl = std::make_unique<Impl>();
  auto base = ParseBaseUrl(base_url);
  if (!base.ok()) return base.status();
  impl->base = std::move(*base);
  impl->base_text = base_url;
  while (!impl->base_text.empty() && impl->base_text.back() == '/') impl->base_text.pop_back();
  impl->options = options;
  const bool has_certificate = !options.certificate_file.empty() || !options.certificate_pem.empty();
  const bool has_key = !options.key_file.empty() || !options.key_pem.empty();
  if (has_certificate != has_key) {
    return absl::InvalidArgumentError("client certificate and key must be set together");
  }
  if (impl->base.is_https) {
    auto tls = ClientTls::Load({options.ca_file, options.ca_pem, options.certificate_file,
                                options.certificate_pem, options.key_file, options.key_pem});
    if (!tls.ok()) return tls.status();
    impl->tls = std::move(*tls);
  }
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(impl)));
}

absl::StatusOr<HttpResponse> HttpClient::Send(const Request& request) {
  const auto deadline = Clock::now() + impl_->options.timeout;
  while (true) {
    const bool kept = impl_->socket != nullptr;
    if (const absl::Status status = impl_->EnsureConnected(deadline); !status.ok()) {
      return impl_->Explain(status, request.path);
    }
    bool read_any = false;
    auto response = impl_->Exchange(request, deadline, &read_any);
    if (response.ok()) return response;
    impl_->Drop();
    // The server may have closed the kept connection at this moment. Retry only requests that are safe to
    // repeat.
    const bool again = kept && !read_any && request.method != "POST" && request.method != "PATCH" &&
                       response.status().code() == absl::StatusCode::kUnavailable;
    if (!again) return impl_->Explain(response.status(), request.path);
  }
}

absl::StatusOr<HttpResponse> HttpClient::Get(std::string_view path) {
  return Send({"GET", path, {}, {}, {}});
}
absl::StatusOr<HttpResponse> HttpClient::Delete(std::string_view path) {
  return Send({"DELETE", path, {}, {}, {}});
}
absl::StatusOr<HttpResponse> HttpClient::Post(std::string_view path, std::string_view body,
                                              std::string_view content_type) {
  return Send({"POST", path, body, content_type, {}});
}
absl::StatusOr<HttpResponse> HttpClient::Put(std::string_view path, std::string_view body,
                                             std::string_view content_type) {
  return Send({"PUT", path, body, content_type, {}});
}
absl::StatusOr<HttpResponse> HttpClient::Patch(std::string_view path, std::string_view body,
                                               std::string_view content_type) {
  return Send({"PATCH", path, body, content_type, {}});
}

absl::Status HttpClient::ReadStream(const Request& request, std::chrono::milliseconds silence,
                                    const std::function<absl::Status(std::string_view piece)>& on_bytes,
                                    HttpResponse* refused) {
  Impl& impl = *impl_;
  impl.Drop();  // a stream uses a connection of its own
  const auto explain = [&](const absl::Status& status) {
    impl.Drop();
    return status.ok() ? status : impl.Explain(status, request.path);
  };
  absl::Status status = impl.EnsureConnected(Clock::now() + impl.options.timeout);
  if (!status.ok()) return explain(status);
  status = impl.socket->Write(impl.Head(request), request.body, Clock::now() + impl.options.timeout);
  if (!status.ok()) return explain(status);
  ResponseParser parser(~size_t{0}, ResponseParser::Body::kAsSaid);
  bool read_any = false;
  while (true) {
    const auto state = impl.Advance(parser, Clock::now() + silence, &read_any);
    if (!state.ok()) return explain(state.status());
    if (*state > ParseState::kDone) return explain(impl.ParseFailure(parser, *state));
    HttpResponse& response = parser.response();
    if (*state != ParseState::kHeader && response.status != 200) {
      if (*state != ParseState::kDone && response.body.size() <= kMaxEventBytes) continue;
      status = StatusOf(response);
      if (refused != nullptr) *refused = std::move(response);
      return explain(status);
    }
    status = on_bytes(response.body);
    if (!status.ok()) return explain(status);
    response.body.clear();
    if (*state == ParseState::kDone) return explain(absl::OkStatus());
  }
}

absl::Status HttpClient::ReadEvents(std::string_view path,
                                    const std::function<bool(const ServerEvent&)>& on_event,
                                    std::string_view last_event_id, std::chrono::milliseconds silence) {
  Request request;
  request.path = path;
  request.headers.push_back({"Accept", "text/event-stream"});
  if (!last_event_id.empty()) request.headers.push_back({"Last-Event-ID", std::string(last_event_id)});
  EventReader reader(kMaxEventBytes);
  bool stopped = false;
  const absl::Status status = ReadStream(request, silence, [&](std::string_view piece) {
    if (reader.Put(piece, on_event)) return absl::OkStatus();
    stopped = !reader.too_large();
    return stopped ? absl::CancelledError() : absl::ResourceExhaustedError("an event is too large");
  });
  return stopped ? absl::OkStatus() : status;
}

absl::Status HttpClient::ReadLines(const Request& request, const LineStream& stream) {
  LineCutter cutter(impl_->options.max_body_bytes);
  bool opened = false;
  bool stopped = false;
  const absl::Status status = ReadStream(
      request, stream.silence,
      [&](std::string_view piece) {
        if (!std::exchange(opened, true) && stream.on_open) stream.on_open();
        if (cutter.Put(piece, stream.on_line)) return absl::OkStatus();
        stopped = !cutter.too_large();
        return stopped ? absl::CancelledError() : absl::ResourceExhaustedError("a line is too large");
      },
      stream.refused);
  if (stopped) return absl::OkStatus();
  if (status.ok()) cutter.End(stream.on_line);
  return status;
}

void HttpClient::Interrupt() {
  const std::lock_guard lock(impl_->socket_mutex);
  impl_->interrupted = true;
  if (impl_->socket != nullptr) impl_->socket->Interrupt();
}

const std::string& HttpClient::base_url() const { return impl_->base_text; }

absl::Status StatusOf(const HttpResponse& response) {
  if (response.status >= 200 && response.status < 300) return absl::OkStatus();
  const auto code = [&response] {
    switch (response.status) {
      case 400:
      case 422:
        return absl::StatusCode::kInvalidArgument;
      case 401:
        return absl::StatusCode::kUnauthenticated;
      case 403:
        return absl::StatusCode::kPermissionDenied;
      case 404:
        return absl::StatusCode::kNotFound;
      case 409:
      case 412:
        return absl::StatusCode::kFailedPrecondition;
      case 413:
      case 429:
        return absl::StatusCode::kResourceExhausted;
      case 501:
        return absl::StatusCode::kUnimplemented;
      case 503:
        return absl::StatusCode::kUnavailable;
      default:
        return response.status >= 500 ? absl::StatusCode::kInternal : absl::StatusCode::kUnknown;
    }
  }();
  const std::string_view text = StripSpace(response.text());
  const std::string_view line = text.substr(0, std::min<size_t>(text.find('\n'), 300));
  return absl::Status(code, StrCat("the server answered ", response.status, " ",
                                   ReasonPhrase(response.status), line.empty() ? "" : ": ", line));
}

}  // namespace taut
